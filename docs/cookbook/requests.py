import json
import re
import time


class Catalog:
    def __init__(self):
        self.items = [{"name": "item %d" % n, "price": n * 7 % 100} for n in range(2000)]

    def search(self, pattern):
        return [i for i in self.items if re.search(pattern, i["name"])]

    def cheapest(self):
        return sorted(self.items, key=self.rank)[:10]

    def rank(self, item):
        return item["price"], item["name"]


def handle(catalog):
    found = catalog.search("(1|2)+5$")
    return json.dumps([found, catalog.cheapest()])


def serve():
    catalog = Catalog()
    while True:
        handle(catalog)
        time.sleep(0.001)


serve()
