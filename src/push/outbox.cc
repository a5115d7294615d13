#include "push/outbox.h"

#include "base/counted.h"
#include "base/text.h"


namespace push {

Outbox::Outbox(Target target, std::function<void(const std::string&)> print) : target_(std::move(target)), print_(std::move(print)), thread_([this] { run(); }) {}

Outbox::~Outbox() {
  {
    const std::lock_guard guard(mutex_);
    has_ended_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (!waiting_.empty()) print_(target_.shown() + ": " + base::counted(waiting_.size(), "request") + " not sent before the end");
}

void Outbox::put(std::string body) {
  {
    const std::lock_guard guard(mutex_);
    bytes_ += body.size();
    waiting_.push_back({std::move(body), std::chrono::steady_clock::now()});
    while (waiting_.size() > most_waiting || (bytes_ > most_bytes && waiting_.size() > 1)) {
      bytes_ -= waiting_.front().body.size();
      waiting_.pop_front();
      if (first_ != on_its_way_) counts_.dropped++;
      first_++;
    }
  }
  wake_.notify_all();
}

Counts Outbox::counts() const {
  const std::lock_guard guard(mutex_);
  Counts out = counts_;
  out.waiting = waiting_.size(), out.waiting_bytes = bytes_;
  return out;
}

bool Outbox::wait(std::unique_lock<std::mutex>& guard, double seconds) {
  wake_.wait_for(guard, std::chrono::duration<double>(seconds), [&] { return has_ended_.load(); });
  return !has_ended_;
}

void Outbox::note(const std::string& why) {
  if (why != noted_) print_(target_.shown() + ": " + (noted_ = why));
}

Judgement Outbox::send(const std::string& body) const {
  net::HttpRequest request = {.target = target_.path, .headers = target_.headers, .body = body, .seconds = request_seconds, .gives_up = [this] { return has_ended_.load(); }};
  request.headers.emplace_back("Content-Type", target_.row->content);
  if (target_.row->kind == TargetKind::pyroscope) request.headers.emplace_back("Connect-Protocol-Version", "1");
  if (target_.row->kind == TargetKind::parca) request.headers.emplace_back("X-Grpc-Web", "1");
  const auto answer = net::post(target_.to, request);
  if (!answer.ok()) return {Outcome::away, answer.error().message};
  Judgement out = judge(target_.row->kind, *answer);
  // Pages of errors repeat the path, which is the secret of a webhook.
  if (const std::string path = target_.path.substr(0, target_.path.find('?')); target_.row->kind == TargetKind::webhook && path.size() > 1) base::replace_all(out.why, path, "/...");
  return out;
}

void Outbox::run() {
  constexpr std::chrono::minutes longest_retry{15};
  std::unique_lock guard(mutex_);
  while (!has_ended_) {
    wake_.wait(guard, [&] { return has_ended_ || !waiting_.empty(); });
    if (has_ended_) return;
    const Waiting sent = waiting_.front(); // put() may drop it meanwhile
    const uint64_t number = first_;
    on_its_way_ = number;
    guard.unlock();
    Judgement judgement = send(sent.body);
    guard.lock();
    on_its_way_.reset();
    // The answer may be about this body; the others behind it are not held up for ever.
    if (judgement.outcome == Outcome::later && std::chrono::steady_clock::now() - sent.since > longest_retry) judgement.outcome = Outcome::refused;
    if (judgement.outcome == Outcome::later || judgement.outcome == Outcome::away) {
      if (has_ended_) return;
      if (first_ != number) counts_.dropped++;
      note(judgement.why);
      if (!wait(guard, backoff_.next())) return;
      continue;
    }
    backoff_.reset();
    (judgement.outcome == Outcome::taken ? counts_.sent : counts_.refused)++;
    if (first_ == number) {
      bytes_ -= waiting_.front().body.size();
      waiting_.pop_front();
      first_++;
    }
    if (judgement.why.empty())
      noted_.clear();
    else
      note(judgement.why);
  }
}

} // namespace push
