function make_request(response_headers, response_body, headers, body)
  headers[":path"] = response_headers["location"]
  return headers, body
end

function validate_response(headers, body)
  return headers[":status"] == "200"
end
