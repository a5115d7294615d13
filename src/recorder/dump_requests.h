// `acu dump`: asks a recorder that runs to write its file, and waits for it. A recorder listens at a socket whose name has its PID, in the abstract
// namespace (unix(7)), so that nothing is left of it when it is killed. An answer is a line: `ok PATH` or `failed REASON`.
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace recorder {

// The recorder's end.
class DumpRequests {
public:
  // Failure: the name is taken.
  base::Status listen();
  int fd() const { return socket_.get(); } // readable: somebody asks; -1: it does not listen
  // Takes those that ask: root and the recorder's own user. False: there was none.
  bool take();
  bool is_waited_for() const { return !waiting_.empty(); }
  // To all that wait, of the file that was written; no path: why there is none.
  void answer(const std::string& path, std::string_view failure);

private:
  base::Fd socket_;
  std::vector<base::Fd> waiting_;
};

// PIDs of the recorders that listen, the smallest first.
std::vector<int> running_recorders();
// The file's path, once it is written. Failure: there is no such recorder, or it could not write.
base::Result<std::string> request_dump(int pid);

} // namespace recorder
