// What a command is likely to run, by names and by the first line of scripts. (No process has the number 0.)
#include "session/likely_languages.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace session {
namespace {

TEST(LikelyLanguages, NamesOfPrograms) {
  EXPECT_EQ(likely_languages(0, ""), bpf::no_languages);
  EXPECT_EQ(likely_languages(0, "/bin/true"), bpf::no_languages);
  EXPECT_EQ(likely_languages(0, "/usr/bin/python3.11"), bpf::only(LANGUAGE_PYTHON));
  EXPECT_EQ(likely_languages(0, "php-fpm8.2"), bpf::only(LANGUAGE_PHP));
  EXPECT_EQ(likely_languages(0, "/opt/lua5.4"), bpf::only(LANGUAGE_LUA));
  EXPECT_EQ(likely_languages(0, "/usr/bin/luajit-2.1.0-beta3"), bpf::only(LANGUAGE_LUAJIT));
  EXPECT_EQ(likely_languages(0, "/python3/bin/true"), bpf::no_languages);
}

TEST(LikelyLanguages, FirstLinesOfScripts) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("acu-likely-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto likely = [&](const std::string& text) {
    std::ofstream(folder / "script") << text;
    return likely_languages(0, (folder / "script").native());
  };
  EXPECT_EQ(likely("#!/usr/bin/perl -w\nprint 1;\n"), bpf::only(LANGUAGE_PERL));
  EXPECT_EQ(likely("#! /usr/bin/env -S python3 -u\n"), bpf::only(LANGUAGE_PYTHON));
  EXPECT_EQ(likely("#!/usr/bin/ruby"), bpf::only(LANGUAGE_RUBY));
  EXPECT_EQ(likely("#!/bin/sh\nexec python3 x\n"), bpf::no_languages);
  EXPECT_EQ(likely("#!" + std::string(1000, 'x')), bpf::no_languages);
  EXPECT_EQ(likely(""), bpf::no_languages);
  EXPECT_EQ(likely_languages(0, folder.native()), bpf::no_languages);
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace session
