// Texts of /proc as this and older kernels write them, empty and damaged ones.
#include "proc/host_counters.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace proc;

TEST(NamedNumbers, AreReadByName) {
  const NamedNumbers n = read_named_numbers("MemTotal:       1000 kB\nHugePages_Total:       3\nnr_free_pages 42\n");
  EXPECT_EQ(n.get("MemTotal"), 1024000u);
  EXPECT_EQ(n.get("HugePages_Total"), 3u);
  EXPECT_EQ(n.get("nr_free_pages"), 42u);
  EXPECT_FALSE(n.find("MemFree"));
}

TEST(NamedNumbers, LeaveOutDamagedLines) {
  const NamedNumbers n = read_named_numbers("max\nhigh x12\nlow\t7\noom 5x\n\n  \noom_kill 18446744073709551616\nmax 9");
  EXPECT_FALSE(n.find("high"));
  EXPECT_EQ(n.get("low"), 7u);
  EXPECT_FALSE(n.find("oom"));
  EXPECT_FALSE(n.find("oom_kill")); // over 64 bits
  EXPECT_EQ(n.get("max"), 9u);
  EXPECT_TRUE(read_named_numbers("").all().empty());
}

TEST(ProtocolNumbers, HaveTheNamesOfTheLineBefore) {
  const NamedNumbers n = read_protocol_numbers("Tcp: RtoMin OutSegs RetransSegs\nTcp: 200 1000 10\nUdp: InDatagrams\nUdp: 7\n");
  EXPECT_EQ(n.get("Tcp.OutSegs"), 1000u);
  EXPECT_EQ(n.get("Tcp.RetransSegs"), 10u);
  EXPECT_EQ(n.get("Udp.InDatagrams"), 7u);
  EXPECT_FALSE(n.find("Udp.RtoMin"));
}

TEST(ProtocolNumbers, OfDamagedTexts) {
  const NamedNumbers n = read_protocol_numbers("Tcp: A B\nUdp: C\nUdp: 5 6 7\nTcp: 1 2\nIp: X Y\nIp: -1 4");
  EXPECT_EQ(n.get("Udp.C"), 5u); // numbers without a name are none
  EXPECT_FALSE(n.find("Tcp.A")); // its numbers do not follow
  EXPECT_FALSE(n.find("Ip.X"));
  EXPECT_EQ(n.get("Ip.Y"), 4u);
}

TEST(Pressure, Totals) {
  const auto both = read_pressure("some avg10=0.00 avg60=1.00 avg300=0.00 total=123\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=45\n");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->some_us, 123u);
  EXPECT_EQ(both->full_us, 45u);
  const auto some = read_pressure("some avg10=0.00 avg60=1.00 avg300=0.00 total=123\n"); // cpu before Linux 5.13
  ASSERT_TRUE(some);
  EXPECT_EQ(some->full_us, 0u);
  EXPECT_FALSE(read_pressure(""));
  EXPECT_FALSE(read_pressure("some avg10=0.00 total=x\n"));
}

TEST(CpuCounters, OfEachCpu) {
  const CpuCounters c = read_cpu_counters("cpu  30 0 10 100 5 1 2 3 0 0\ncpu0 10 0 5 60 5 1 0 3 0 0\ncpu2 20 0 5 40 0 0 2 0 0 0\nintr 1 2 3\nctxt 99\nprocesses 7\n");
  EXPECT_EQ(c.all.busy(), 43u);
  EXPECT_EQ(c.all.total(), 151u);
  ASSERT_EQ(c.by_cpu.size(), 2u); // CPU 1 is offline
  EXPECT_EQ(c.by_cpu.at(2).softirq, 2u);
  EXPECT_EQ(c.switches, 99u);
  EXPECT_EQ(c.forks, 7u);
  EXPECT_EQ(read_cpu_counters("cpu  1 2\ncpux 1 2 3 4 5\n").by_cpu.size(), 0u);
  EXPECT_EQ(read_cpu_counters("").all.total(), 0u);
}

TEST(CpuCounters, NeverGrowBackwards) {
  const CpuTimes times = CpuTimes{.user = 5, .idle = 9} - CpuTimes{.user = 3, .idle = 10};
  EXPECT_EQ(times.user, 2u);
  EXPECT_EQ(times.idle, 0u); // iowait and idle of /proc/stat can shrink
}

TEST(RunDelay, OfAllCpus) {
  EXPECT_EQ(read_run_delay("version 15\ntimestamp 4\ncpu0 0 0 1 2 3 4 555 1000 9\ndomain0 3 1 2\ncpu1 0 0 1 2 3 4 555 500 9\n"), 1500u);
  EXPECT_FALSE(read_run_delay("version 14\ncpu0 1 2 3 4 5 6 7 8 9\n"));
  EXPECT_FALSE(read_run_delay(""));
}

TEST(DiskCounters, OfThisAndOlderKernels) {
  const auto disks = read_disk_counters("   8       0 sda 10 1 80 20 5 2 40 30 0 50 60 0 0 0 0 3 9\n"
                                        "   8       1 sdb 10 1 80 20 5 2 40 30 0 50 60\n"
                                        "   8       2 sdb1 1 2 3 4\n");
  ASSERT_EQ(disks.size(), 2u);
  const DiskCounters& sda = disks.at("sda");
  EXPECT_EQ(sda.reads, 10u);
  EXPECT_EQ(sda.sectors_read, 80u);
  EXPECT_EQ(sda.read_ms, 20u);
  EXPECT_EQ(sda.writes, 5u);
  EXPECT_EQ(sda.sectors_written, 40u);
  EXPECT_EQ(sda.write_ms, 30u);
  EXPECT_EQ(sda.busy_ms, 50u);
  EXPECT_EQ(sda.weighted_ms, 60u);
  EXPECT_EQ(sda.flushes, 3u);
  EXPECT_EQ(sda.flush_ms, 9u);
  EXPECT_EQ(disks.at("sdb").flushes, 0u);
  EXPECT_TRUE(read_disk_counters("").empty());
}

TEST(ReceiveDrops, OfAllDevices) {
  EXPECT_EQ(read_receive_drops("Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo|bytes\n    lo: 1 2 3 4 5 6 7 8 9\neth0:10 20 0 7 0 0 0 0 0\neth1: 5\n"), 11u);
  EXPECT_EQ(read_receive_drops(""), 0u);
}

TEST(PeerPorts, AreCountedByPeer) {
  PeerPorts ports(32768, 60999);
  ports.add("  sl  local_address rem_address   st\n"
            "   0: 0100007F:1F90 00000000:0000 0A\n"  // listens
            "   1: 0100007F:8001 0200007F:1F90 01\n"
            "   2: 0100007F:8002 0200007F:1F90 06\n"
            "   3: 0100007F:8002 0200007F:1F90 01\n"  // the same port
            "   4: 0100007F:8003 0300007F:1F90 01\n"  // another peer
            "   5: 0100007F:1F90 0200007F:8001 01\n"  // its own port is no local one
            "   6: 0100007F: 0200007F:1F90 01\n   7: x\n");
  EXPECT_EQ(ports.largest(), 2u);
  EXPECT_EQ(PeerPorts(1, 2).largest(), 0u);
}

// Of this host: a partition is a folder of its disk in sysfs, which tells its number.
TEST(Disks, ThoseThatLieOnOthersAreNone) {
  EXPECT_FALSE(proc::is_disk_itself("no such disk"));
  std::error_code ignored;
  for (const auto& disk : std::filesystem::directory_iterator("/sys/block", ignored)) {
    for (const auto& part : std::filesystem::directory_iterator(disk.path(), ignored))
      EXPECT_FALSE(std::filesystem::exists(part.path() / "partition") && proc::is_disk_itself(part.path().filename())) << part.path();
    const bool lies_on_none = !std::filesystem::exists(disk.path() / "loop") && (!std::filesystem::exists(disk.path() / "slaves") || std::filesystem::is_empty(disk.path() / "slaves"));
    EXPECT_EQ(proc::is_disk_itself(disk.path().filename()), lies_on_none) << disk.path();
  }
}
