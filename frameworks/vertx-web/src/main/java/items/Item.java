package items;

import io.vertx.core.json.JsonObject;

/** An item. An owner or a sku that is null was never sent. */
record Item(String id, String owner, String sku, long rev) {
  Item changed(String newOwner, String newSku) {
    return new Item(
        id, newOwner == null ? owner : newOwner, newSku == null ? sku : newSku, rev + 1);
  }

  JsonObject toJson() {
    var json = new JsonObject().put("id", id);
    if (owner != null) {
      json.put("owner", owner);
    }
    if (sku != null) {
      json.put("sku", sku);
    }
    return json.put("rev", rev);
  }
}
