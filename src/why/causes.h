// The list of causes that acu's own rules know, from the headers of their files.
#pragma once

#include <string>

namespace why {

// A document in Markdown: each cause with what an expert would say, its symptom, and its refutation.
std::string causes_text();

} // namespace why
