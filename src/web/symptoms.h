// When acu asks by itself: a symptom that lasts a minute starts `acu why`, at most once in half an hour.
#pragma once

#include "store/store.h"

#include <cstdint>
#include <string>

namespace web {

// The first number of the host that was above its threshold in each slot of the last minute: "pressure_cpu"; empty: none.
std::string find_symptom(store::Store& store, int64_t now);

class Symptoms {
public:
  // Whether to ask now.
  bool should_ask(store::Store& store, int64_t now) const;
  void has_asked(int64_t now) { asked_ = now; }

private:
  int64_t asked_ = 0;
};

} // namespace web
