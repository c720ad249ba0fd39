package items;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.HttpException;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.UnaryOperator;

/** The service of items and its store, which all event loops share. */
final class Items {
  private static final int MAX_BODY_BYTES = 64 << 10;

  private static final int CREATED = 201;
  private static final int NO_CONTENT = 204;
  private static final int BAD_REQUEST = 400;
  private static final int NOT_FOUND = 404;
  private static final int PRECONDITION_FAILED = 412;

  private final ConcurrentMap<String, Item> items = new ConcurrentHashMap<>();

  Router router(Vertx vertx) {
    var router = Router.router(vertx);
    var body = BodyHandler.create(false).setBodyLimit(MAX_BODY_BYTES);
    router.post("/v1/items").handler(body).handler(this::create);
    router.get("/v1/items/:id").handler(this::read);
    router.head("/v1/items/:id").handler(this::read);
    router.patch("/v1/items/:id").handler(body).handler(this::change);
    router.delete("/v1/items/:id").handler(this::remove);
    return router;
  }

  private void create(RoutingContext context) {
    var sent = sent(context);
    var id = UUID.randomUUID().toString();
    var item = new Item(id, text(sent, "owner"), text(sent, "sku"), 1);
    items.put(id, item);
    context.response().setStatusCode(CREATED).putHeader(HttpHeaders.LOCATION, "/v1/items/" + id);
    show(context, item);
  }

  private void read(RoutingContext context) {
    var item = items.get(context.pathParam("id"));
    if (item == null) {
      fail(context, NOT_FOUND, "there is no such item");
    } else {
      show(context, item);
    }
  }

  private void change(RoutingContext context) {
    var sent = sent(context);
    var owner = text(sent, "owner");
    var sku = text(sent, "sku");
    replace(context, item -> item.changed(owner, sku));
  }

  private void remove(RoutingContext context) {
    replace(context, item -> null);
  }

  /** Puts another item, or none, in the place of one that has the revision that is asked for. */
  private void replace(RoutingContext context, UnaryOperator<Item> change) {
    var match = context.request().getHeader(HttpHeaders.IF_MATCH);
    var found =
        new Object() {
          int status = NOT_FOUND;
        };
    items.computeIfPresent(
        context.pathParam("id"),
        (id, item) -> {
          if (!allows(match, item.rev())) {
            found.status = PRECONDITION_FAILED;
            return item;
          }
          found.status = NO_CONTENT;
          return change.apply(item);
        });
    switch (found.status) {
      case NOT_FOUND -> fail(context, NOT_FOUND, "there is no such item");
      case PRECONDITION_FAILED ->
          fail(context, PRECONDITION_FAILED, "the item has another revision");
      default -> context.response().setStatusCode(NO_CONTENT).end();
    }
  }

  private static boolean allows(String match, long rev) {
    return match == null || match.equals("*") || match.equals("\"" + rev + "\"");
  }

  /** Returns the JSON of a request; what is none is answered with 400. */
  private static JsonObject sent(RoutingContext context) {
    try {
      var sent = context.body().asJsonObject();
      if (sent != null) {
        return sent;
      }
    } catch (DecodeException | ClassCastException error) {
      // It is refused below.
    }
    throw new HttpException(BAD_REQUEST);
  }

  private static String text(JsonObject sent, String name) {
    var value = sent.getValue(name);
    if (value == null || value instanceof String) {
      return (String) value;
    }
    throw new HttpException(BAD_REQUEST);
  }

  private static void show(RoutingContext context, Item item) {
    if (context.request().method() == HttpMethod.HEAD) {
      // Over HTTP/2, Vert.x would send a body.
      context.response().putHeader(HttpHeaders.CONTENT_TYPE, "application/json").end();
    } else {
      context.json(new JsonObject().put("item", item.toJson()));
    }
  }

  private static void fail(RoutingContext context, int status, String words) {
    context.response().setStatusCode(status);
    context.json(new JsonObject().put("error", words));
  }
}
