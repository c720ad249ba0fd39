// k6: POST, PATCH and DELETE of an item, 317 bytes in each body. URL, USERS and SECONDS come from the
// environment.
import http from "k6/http";
import { check } from "k6";
import exec from "k6/execution";

export const options = {
  vus: Number(__ENV.USERS),
  duration: `${__ENV.SECONDS}s`,
  insecureSkipTLSVerify: true,
  summaryTrendStats: ["med", "p(99)"],
};

// Only these succeed: http_req_failed counts the others.
http.setResponseCallback(http.expectedStatuses(201, 204));

const params = { headers: { "content-type": "application/json" } };
const change = JSON.stringify({ state: "paid", note: "n".repeat(291) });

export default function () {
  const sku = String(exec.scenario.iterationInTest).padStart(8, "0");
  const item = JSON.stringify({ owner: "ann", sku, note: "n".repeat(275) });
  const created = http.post(`${__ENV.URL}/v1/items`, item, params);
  const isCreated = check(created, {
    created: (answer) => answer.status === 201 && answer.json("item.sku") === sku,
  });
  if (!isCreated) return;
  const url = __ENV.URL + created.headers.Location;
  check(http.patch(url, change, params), { changed: (answer) => answer.status === 204 });
  check(http.del(url), { removed: (answer) => answer.status === 204 });
}
