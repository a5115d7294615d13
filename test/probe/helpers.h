// Shared by the tests of src/probe.
#pragma once

#include "base/text.h"
#include "format/btf.h"
#include "format/tracefs.h"
#include "probe/attach.h"
#include "probe/probe.h"

#include <gtest/gtest.h>

struct Fixture : testing::Test {
  type::Table types;
  probe::Machine machine{types};
  probe::Mismatch mismatch;

  std::vector<probe::Event> match(std::string_view text) {
    mismatch = {};
    std::vector<std::string_view> parts = base::split(text, ':');
    return probe::match(machine, parts, mismatch);
  }
  // The one event that the text names.
  probe::Event one(std::string_view text) {
    auto events = match(text);
    EXPECT_EQ(events.size(), 1u) << text << ": " << mismatch.message;
    return events.empty() ? probe::Event() : std::move(events.front());
  }
  probe::Context context(const probe::Event& event, std::initializer_list<std::string_view> fields) {
    std::vector<std::string_view> list(fields);
    return probe::choose_context(machine, event, list);
  }
};

#define NEEDS_TRACEFS                                                                                        \
  if (!machine.tracefs()) GTEST_SKIP() << machine.tracefs_error().message
#define NEEDS_BTF                                                                                            \
  if (!machine.btf()) GTEST_SKIP() << "this kernel gives no type information"
