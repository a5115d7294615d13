// Containers in made up hierarchies: folders as the programs that run containers name them.
#include "symbol/containers.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace symbol {
namespace {

const std::string a(64, 'a'), b = "b1" + std::string(62, '0'), b2 = "b2" + std::string(62, '0'), c(64, 'c'), d(64, 'd');

class ContainersTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/acu-containers-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root = name;
    write("/mounts", "cgroup " + root + "/v1 cgroup rw 0 0\ncgroup2 " + root + "/groups cgroup2 rw 0 0\n");
    std::filesystem::create_directories(root + "/groups");
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  std::string group(const std::string& path) {
    std::filesystem::create_directories(root + "/groups" + path);
    return root + "/groups" + path;
  }
  Containers containers() { return Containers(root + "/mounts", root); }
  std::string mistake(const std::string& word) {
    auto found = containers().find(word);
    return found.ok() ? "found " + found->folder : found.error().message;
  }

  std::string root;
};

TEST_F(ContainersTest, DockerByNameAndId) {
  const std::string folder = group("/system.slice/docker-" + a + ".scope");
  group("/system.slice/ssh.service");
  write("/var/lib/docker/containers/" + a + "/config.v2.json",
        R"({"State":{"Running":true},"Image":{"Name":"nginx"},"ID":")" + a + R"(","Name":"/web","Driver":"overlay2"})");
  for (const std::string& word : {std::string("web"), a, a.substr(0, 12)}) {
    auto found = containers().find(word);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->folder, folder);
    EXPECT_EQ(found->name, "web");
  }
}

TEST_F(ContainersTest, OfOtherPrograms) {
  const std::string podman = group("/machine.slice/libpod-" + a + ".scope/container");
  group("/machine.slice/libpod-conmon-" + a + ".scope");
  write("/var/lib/containers/storage/overlay-containers/containers.json",
        R"([{"id":")" + d + R"(","names":["other"]},{"id":")" + a + R"(","names":["db"],"image":"x"}])");
  const std::string pod = group("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-" + b + ".scope");
  write("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + b + "/config.json",
        R"({"annotations": {"io.kubernetes.cri.container-name": "coredns"}})");
  const std::string plain = group("/kubepods/besteffort/pod2/" + c);
  const std::string lxc = group("/lxc.payload.build-1"), nspawn = group("/machine.slice/machine-deb\\x2d12.scope");
  const std::pair<std::string, std::string> wanted[] = {{"db", podman.substr(0, podman.rfind('/'))}, {"coredns", pod}, {c, plain},
                                                        {"build-1", lxc}, {"deb-12", nspawn}};
  for (const auto& [word, folder] : wanted) {
    auto found = containers().find(word);
    ASSERT_TRUE(found.ok()) << word << ": " << found.error().message;
    EXPECT_EQ(found->folder, folder) << word;
  }
}

TEST_F(ContainersTest, Mistakes) {
  EXPECT_EQ(mistake("web"), "there is no container `web`: no control group of version 2 is that of one (`--cgroup` takes any)");
  group("/docker/" + b);
  group("/docker/" + b2);
  EXPECT_EQ(mistake("web"), "there is no container `web`; there are b10000000000, b20000000000");
  EXPECT_EQ(mistake("b"), "there is no container `b`; there are b10000000000, b20000000000");
  group("/docker/b1" + std::string(62, '1'));
  EXPECT_EQ(mistake("b1"), "there is no container `b1`; there are b10000000000, b11111111111, b20000000000");
  group("/docker/b10" + std::string(61, '1'));
  EXPECT_EQ(mistake("b10"), "there are several containers `b10`: b10000000000, b10111111111; give more of the id");
}

} // namespace
} // namespace symbol
