// Pages and pictures: well-formed whatever names hold, with the recording that they show.
#include "profile/formats.h"
#include "profiles.h"

#include <gtest/gtest.h>

#include <rapidjson/document.h>

#include <map>

namespace profile {
namespace {

// Names that mean something in HTML, XML, JSON, or nothing at all.
const std::vector<std::string_view> nasty = {"</script><script>alert(1)</script>", "<!--", "]]>", "a & b", "\"quoted\"", "it's", "\xef\xbf\xbe", "größe", "back\\slash", "\xf0\x9f\x98\x80", "{}", ""};

Profile recording() {
  Profile p;
  p.about.what = "process 17 (</title><b>)";
  for (std::string_view name : nasty) add(p, {{"main"}, {name, name}}, 10, 10, {.process = name.empty() ? "x" : name, .thread = name});
  return p;
}

// The data of a page, as its script reads it.
rapidjson::Document data_of(const std::string& page) {
  constexpr std::string_view begin = "<script id=\"data\" type=\"application/json\">";
  const size_t at = page.find(begin) + begin.size();
  rapidjson::Document out;
  out.Parse(page.substr(at, page.find("</script>", at) - at).c_str());
  return out;
}

TEST(Page, ItsDataAreJson) {
  const Profile p = recording();
  const rapidjson::Document data = data_of(write_page(p));
  ASSERT_FALSE(data.HasParseError());
  ASSERT_EQ(data["texts"].Size(), p.texts().size());
  for (uint32_t i = 0; i < p.texts().size(); i++) EXPECT_EQ(p.texts()[i], data["texts"][i].GetString());
  EXPECT_EQ(data["parents"].Size(), p.nodes().size());
  EXPECT_EQ(data["nodes"].Size(), p.nodes().size());
  EXPECT_EQ(data["frames"].Size(), 3 * p.frames().size());
  EXPECT_EQ(data["threads"].Size(), 4 * p.threads().size());
  EXPECT_EQ(data["samples"].Size(), 3 * p.samples().size());
  EXPECT_FALSE(data.HasMember("slices"));
}

// What tells the page's table to whom a wait is charged, for each frame. Pages of CPU time are as small as they were.
TEST(Page, RanksOfFramesThatAreCharged) {
  Profile p;
  add(p, {{"main"}, {"read", "/lib/libc.so.6"}, {"vfs_read", "[kernel]", FrameKind::kernel}, {"[waiting]", "", FrameKind::note}}, 10);
  EXPECT_FALSE(data_of(write_page(p)).HasMember("ranks"));
  p.about.title = "Waiting", p.about.unit = "ns";
  const rapidjson::Document data = data_of(write_page(p));
  ASSERT_TRUE(data.HasMember("ranks"));
  ASSERT_EQ(data["ranks"].Size(), p.frames().size());
  for (uint32_t f = 1; f + 1 < p.frames().size(); f++) EXPECT_LT(data["ranks"][f].GetUint(), data["ranks"][f + 1].GetUint()) << f;
}

TEST(Page, NoNameEndsItsScript) {
  const std::string page = write_page(recording());
  EXPECT_EQ(page.find("alert(1)</script>"), page.npos);
  EXPECT_EQ(page.find("</title><b>"), page.npos);
}

TEST(Page, SlicesAreDifferences) {
  Profile p = recording();
  p.slice_ns = 1000;
  p.add_slice(0, 1, {{2, 7, 1}, {5, 8, 1}});
  p.add_slice(3, 2, {{1, 9, 1}});
  const rapidjson::Document data = data_of(write_page(p));
  ASSERT_EQ(data["slices"].Size(), 2u);
  const uint64_t first[] = {0, 2, 7, 3, 8}; // number, then each sample less the last one's with its weight
  for (uint32_t i = 0; i < std::size(first); i++) EXPECT_EQ(data["slices"][0][i].GetUint64(), first[i]);
  EXPECT_EQ(data["spans"][1].GetUint64(), 2u);
}

TEST(Embedded, PagesAndPicturesHoldTheirRecording) {
  for (size_t length = 0; length < 7; length++) { // base64 has three forms of an end
    Profile p = recording();
    p.about.what = std::string(length, 'x');
    for (const std::string& file : {write_page_file(p), write_picture_file(p)}) {
      auto again = read_embedded(file);
      ASSERT_TRUE(again.ok()) << again.error().message;
      EXPECT_EQ(write_recording(*again), write_recording(p));
    }
  }
}

TEST(Embedded, WhatIsNoRecording) {
  EXPECT_FALSE(read_embedded("<svg>").ok());
  EXPECT_FALSE(read_embedded("<!-- acu recording: -->\n").ok());
  EXPECT_FALSE(read_embedded("<!-- acu recording:  -->\n").ok());
  EXPECT_FALSE(read_embedded("<!-- acu recording: QUNV -->\n").ok());
  EXPECT_FALSE(read_embedded("<!-- acu recording: QUNVUFJPRjE= -->\n").ok()); // only "ACUPROF1"
  EXPECT_FALSE(read_embedded("<!-- acu recording: !!!! -->\n").ok());
  EXPECT_TRUE(is_page("<!DOCTYPE html>") && is_page("<!doctype HTML>"));
  EXPECT_TRUE(is_picture("<?xml version") && is_picture("<svg xmlns"));
  EXPECT_FALSE(is_page("<html>") || is_picture("<html>") || is_page(""));
}

// Opening and closing tags in pairs, no bare & or <: what an XML parser asks for.
std::string problem_of_xml(const std::string& xml) {
  std::vector<std::string> open;
  for (size_t at = 0; at < xml.size();) {
    if (xml[at] == '&') {
      const std::string_view rest = std::string_view(xml).substr(at, 6);
      if (!rest.starts_with("&amp;") && !rest.starts_with("&lt;") && !rest.starts_with("&gt;") && !rest.starts_with("&quot;")) return "a bare & at " + std::to_string(at);
    }
    if (static_cast<unsigned char>(xml[at]) < ' ' && xml[at] != '\n' && xml[at] != '\t') return "a control character";
    if (xml[at] != '<') {
      at++;
      continue;
    }
    if (xml.compare(at, 9, "<![CDATA[") == 0) {
      at = xml.find("]]>", at) + 3;
      continue;
    }
    if (xml.compare(at, 4, "<!--") == 0) {
      at = xml.find("-->", at) + 3;
      continue;
    }
    const size_t end = xml.find('>', at);
    if (end == xml.npos) return "a tag without an end";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != tag.npos) return "a tag in a tag: " + tag;
    at = end + 1;
    if (tag.starts_with('?') || tag.ends_with('/')) continue;
    if (!tag.starts_with('/')) {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    } else {
      if (open.empty() || "/" + open.back() != tag) return "unexpected <" + tag + ">";
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is open";
}

TEST(Picture, IsXml) {
  EXPECT_EQ(problem_of_xml("<a><b/>&amp;</a>"), "");
  EXPECT_NE(problem_of_xml("<a>&</a>"), "");
  Profile p = recording();
  p.about.notes = {"a note <&>"};
  EXPECT_EQ(problem_of_xml(write_svg(p)), "");
  p.about.incomplete = "only 1% of \"stacks\" <are> complete";
  EXPECT_EQ(problem_of_xml(write_svg(p)), "");
  EXPECT_EQ(problem_of_xml(write_svg(Profile())), "");
}

// Names are cut between characters.
TEST(Picture, NamesThatDoNotFit) {
  Profile p;
  for (int i = 0; i < 40; i++) { // each 29 units wide: room for three letters
    std::string name;
    for (int k = 0; k < 10; k++) name += "ü";
    add(p, {{name + std::to_string(i)}}, 1, 1, {.process = ""});
  }
  const std::string svg = write_svg(p);
  EXPECT_NE(svg.find(">ü..</text>"), svg.npos);
  EXPECT_EQ(svg.find("\xef\xbf\xbd"), svg.npos); // no half of one
}

// What is narrower than a third of a unit is left out, with all above it.
TEST(Picture, NarrowFramesAreLeftOut) {
  Profile p;
  add(p, {{"wide"}}, 1'000'000);
  add(p, {{"narrow"}, {"above"}}, 100);
  const std::string svg = write_svg(p);
  EXPECT_NE(svg.find("wide"), svg.npos);
  EXPECT_EQ(svg.find("narrow"), svg.npos);
  EXPECT_EQ(svg.find("above"), svg.npos);
}

// Frames of one name beside each other are one box; in other files they are others.
TEST(Picture, BoxesAreMergedByFunction) {
  Profile p;
  add(p, {{"main"}, {"f"}}, 1, 1, {.tid = 1});
  add(p, {{"main"}, {"f"}}, 1, 1, {.tid = 2});
  add(p, {{"main"}, {"f", "/lib/w.so"}}, 1, 1);
  const std::string svg = write_svg(p);
  std::map<std::string, int> titles;
  for (size_t at = 0; (at = svg.find("<title>", at)) != svg.npos; at++) titles[svg.substr(at + 7, svg.find_first_of("\n<", at + 7) - at - 7)]++;
  EXPECT_EQ(titles["main"], 1);
  EXPECT_EQ(titles["f"], 2);
  EXPECT_NE(svg.find("f\n/bin/app\n66.7%, 2"), svg.npos);
}

// Recursions of other tools' programs are deeper than a thread's stack is large.
TEST(Picture, StacksOfAnyDepth) {
  Profile p;
  const uint32_t frame = p.frame({p.text("f"), 0});
  uint32_t node = 0;
  for (int i = 0; i < 100'000; i++) node = p.node(node, frame);
  p.add(p.thread({}), node, 3, 3);
  const std::string svg = write_svg(p);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_FALSE(write_page(p).empty());
}

} // namespace
} // namespace profile
