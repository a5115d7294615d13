"""The dashboard of docs/fleet as Grafana and its ClickHouse plugin use it: variables, macros, and the queries that come of them.

- Grafana's variables (its documentation, "Variable syntax"): `${name:FORMAT}`; FORMAT is `csv` or `raw`, the others are not used.
- The plugin's macros (its documentation, "Macros"): `$__fromTime`, `$__toTime`, `$__interval_s`, and `$__conditionalAll(condition, $variable)`,
  which is `1=1` where all is chosen. That one is replaced before variables are. What is not replaced is an error.
"""
import json
import os
import re

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "fleet", "acu-grafana.json")
ALL = "$__all"


def formatted(value, form):
    if form not in ("csv", "raw"):
        raise ValueError(f"a format that is not known here: {form}")
    return ",".join(value) if isinstance(value, list) else value


def arguments_of(text, at):
    """What is between the brackets that open at `at`, by commas that are in no other brackets; and where they close."""
    depth, begin, out = 0, at + 1, []
    for i in range(at, len(text)):
        if text[i] == "(":
            depth += 1
        elif text[i] == ")":
            depth -= 1
        if (text[i] == "," and depth == 1) or depth == 0:
            out.append(text[begin:i])
            begin = i + 1
        if depth == 0:
            return out, i + 1
    raise ValueError("brackets do not close: " + text[at:at + 80])


class Dashboard:
    def __init__(self, store, begin, end):
        """`begin`, `end`: the chosen range, seconds since 1970."""
        self.about = json.load(open(FILE))
        self.store, self.begin, self.end = store, begin, end
        self.chosen = {}   # variable -> value, a list, or ALL
        self.options = {}  # variable -> all values
        self.texts = {}    # variable -> value -> what is shown

    @property
    def panels(self):
        return self.about["panels"]

    @property
    def variables(self):
        return self.about["templating"]["list"]

    def expand(self, text, interval=None):
        macro = "$__conditionalAll("
        while (at := text.rfind(macro)) != -1:
            (condition, variable), end = arguments_of(text, at + len(macro) - 1)
            name = re.fullmatch(r"\s*\$\{?(\w+)\}?\s*", variable)[1]
            text = text[:at] + ("1=1" if self.chosen[name] in (ALL, "", []) else condition) + text[end:]

        def value_of(match):
            value = self.chosen[match[1]]
            return formatted(self.options[match[1]] if value == ALL else value, match[2])

        text = re.sub(r"\$\{(\w+):(\w+)\}", value_of, text)
        text = text.replace("$__fromTime", f"toDateTime({self.begin})").replace("$__toTime", f"toDateTime({self.end})")
        if interval:  # queries of variables have none
            text = text.replace("$__interval_s", str(max(interval, 1)))
        if "$" in text:
            raise ValueError("something is not replaced: " + text[text.index("$"):][:80])
        return text

    def run(self, text, interval=None):
        """Names of the columns, their types, and rows."""
        answer = json.loads(self.store.query(self.expand(text, interval) + "\nFORMAT JSON"))
        names = [column["name"] for column in answer["meta"]]
        return names, [column["type"] for column in answer["meta"]], [{**row} for row in answer["data"]]

    def choose(self, **chosen):
        """Variables in their order, as one may depend on those before it. `chosen`: texts that are shown; all, where it is not given."""
        for variable in self.variables:
            name = variable["name"]
            if variable["type"] == "datasource":
                self.chosen[name] = "uid"
                continue
            names, _, rows = self.run(variable["query"])
            if len(names) > 2 or not rows:
                raise ValueError(f"variable {name}: {names}, {len(rows)} rows")
            self.texts[name] = {str(row[names[0]]): str(row[names[-1]]) for row in rows}
            self.options[name] = list(self.texts[name])
            if name in chosen:
                self.chosen[name] = [value for value, text in self.texts[name].items() if text in chosen[name]]
                if len(self.chosen[name]) != len(chosen[name]):
                    raise ValueError(f"variable {name} lacks one of {chosen[name]}: {self.texts[name]}")
            else:
                self.chosen[name] = ALL if variable["includeAll"] else self.options[name][0]
        return self

    def ask(self, title, points=500):
        """The rows of a panel, numbers as numbers; Grafana's interval is that of a panel of some hundred points, and not below the panel's own."""
        panel = next(p for p in self.panels if p["title"] == title)
        least = int(panel.get("interval", "1s").removesuffix("s"))
        names, types, rows = self.run(panel["targets"][0]["rawSql"], max(least, (self.end - self.begin) // points))
        is_number = dict(zip(names, (t.startswith(("UInt", "Int", "Float")) for t in types)))
        return names, types, [{name: float(value) if is_number[name] else value for name, value in row.items()} for row in rows]
