// One client: what it sends is cut into messages, what it gets is written as far as it takes it.
#pragma once

#include "agent/protocol.h"
#include "base/fd.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace agent {

// A message that is a list of requests: their answers are sent as one list.
struct Batch {
  std::vector<std::string> answers;
  size_t pending = 0;
};

// A call that waits for its turn.
struct Waiting {
  Request request;
  std::shared_ptr<Batch> batch;
};

class Client {
public:
  Client(base::Fd in, base::Fd out, Protocol protocol, std::string name) : dialogue{.protocol = protocol, .client = std::move(name)}, in_(std::move(in)), out_(std::move(out)) {}

  int in() const { return in_.get(); }
  int out() const { return out_.get(); }
  // Reads what there is; complete messages are added to the list. A message that is too long is an empty one.
  void read(std::vector<std::string>& messages);
  void send(std::string_view message);
  void flush();
  bool has_output() const { return !outbox_.empty(); }
  bool is_slow() const { return outbox_.size() > slow_bytes; } // it does not read what it gets
  bool input_has_ended() const { return input_has_ended_; }
  bool is_gone() const { return is_gone_; }
  void leave() { is_gone_ = true, outbox_.clear(); }

  Dialogue dialogue;
  std::deque<Waiting> waiting;
  size_t running = 0;

private:
  static constexpr size_t longest_message = 1 << 20, slow_bytes = 4 << 20, longest_outbox = 64 << 20;
  base::Fd in_, out_;
  std::string inbox_, outbox_;
  bool is_skipping_ = false; // the rest of a message that is too long
  bool input_has_ended_ = false, is_gone_ = false;
};

} // namespace agent
