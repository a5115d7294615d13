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

// Every group is somebody's: of a container also below its group, else of a unit, else it is a group without more.
TEST_F(ContainersTest, WhoseAGroupIs) {
  write("/var/lib/docker/containers/" + a + "/config.v2.json", R"({"Name":"/web"})");
  write("/home/ann/.local/share/containers/storage/overlay-containers/containers.json", R"([{"id":")" + d + R"(","names":["db"]}])");
  write("/var/lib/containers/storage/overlay-containers/containers.json",
        R"([{"id":")" + c + R"(","names":["k8s_nginx_web-7d9f_shop_0f1c_0"]}])");
  write("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + b + "/config.json",
        R"({"annotations":{"io.kubernetes.cri.container-name":"app","io.kubernetes.cri.sandbox-name":"app-1","io.kubernetes.cri.sandbox-namespace":"default"}})");
  write("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + b2 + "/config.json",
        R"({"annotations":{"io.kubernetes.cri.container-type":"sandbox","io.kubernetes.cri.sandbox-name":"app-1","io.kubernetes.cri.sandbox-namespace":"default"}})");
  struct Case {
    std::string path, title, runtime;
  };
  const std::string pod = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0f1c_22.slice", e(64, 'e');
  const Case cases[] = {{"/system.slice/docker-" + a + ".scope", "web", "docker"},
                        {"/system.slice/docker-" + a + ".scope/init/worker.service", "web", "docker"},
                        {"/docker/" + a, "web", "docker"},
                        {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + d + ".scope/container", "db", "podman"},
                        {pod + "/cri-containerd-" + b + ".scope", "default/app-1/app", "containerd"},
                        {pod + "/cri-containerd-" + b2 + ".scope", "default/app-1/pause", "containerd"},
                        {pod + "/crio-" + c + ".scope", "shop/web-7d9f/nginx", "cri-o"},
                        {"/kubepods/besteffort/pod0f1c-22/" + e, "0f1c-22/eeeeeeeeeeee", "oci"},
                        {"/lxc.payload.build-1/system.slice", "build-1", "lxc"},
                        {"/lxc/old", "old", "lxc"},
                        {"/machine.slice/machine-deb\\x2d12.scope", "deb-12", "nspawn"},
                        {"/machine.slice/libpod-conmon-" + d + ".scope", "libpod-conmon-" + d + ".scope", "systemd"},
                        {"/system.slice/nginx.service/workers", "nginx.service", "systemd"},
                        {"/user.slice/user-1000.slice/user@1000.service/app.slice/sync.service", "sync.service", "systemd"},
                        {"/mine/a", "mine/a", "cgroup"},
                        {"/", "host", "host"}};
  Containers containers(root + "/mounts", root);
  for (const Case& one : cases) {
    const Container& found = containers.of_group(one.path);
    EXPECT_EQ(found.title(), one.title) << one.path;
    EXPECT_EQ(found.runtime, one.runtime) << one.path;
  }
}

TEST_F(ContainersTest, WhatTheyAreCalled) {
  const Container nginx = {.id = b, .name = "nginx", .runtime = "containerd", .pod = "shop/web-1"};
  for (std::string_view word : {"nginx", "shop/web-1", "shop/web-1/nginx", "shop/*", "ngin?", "b10"}) EXPECT_TRUE(nginx.is_called(word)) << word;
  for (std::string_view word : {"", "b1", "web-1", "shop", "ngin", "web*"}) EXPECT_FALSE(nginx.is_called(word)) << word;
}

// A pattern or a pod may be several; a unit is meant only where no container has the name.
TEST_F(ContainersTest, SeveralAtOnce) {
  group("/lxc.payload.web-1");
  group("/lxc.payload.web-2");
  group("/system.slice/web-3.service/sub");
  EXPECT_EQ(containers().require("web-*")->size(), 2u);
  EXPECT_EQ(containers().require("web-2")->size(), 1u);
  ASSERT_TRUE(containers().find("web-3.service").ok());
  EXPECT_EQ(containers().find("web-3.service")->folder, root + "/groups/system.slice/web-3.service");
  EXPECT_FALSE(containers().require("no-*").ok());
}

// Names may be damaged or hostile: nothing but a wrong name comes of it.
TEST_F(ContainersTest, DamagedFiles) {
  const std::string path = "/docker/" + a;
  group(path);
  for (const char* text : {"", "{", R"({"Name":)", R"({"Name":")", R"({"Name":"/)", R"("Name""Name""Name":)"}) {
    write("/var/lib/docker/containers/" + a + "/config.v2.json", text);
    Containers fresh = containers();
    EXPECT_EQ(fresh.of_group(path).id, a) << text;
  }
}

} // namespace
} // namespace symbol
