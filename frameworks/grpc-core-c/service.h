#pragma once

#include "call.h"

enum { METHODS = 4 };

// benchmark.BenchmarkService.
extern const struct method methods[METHODS];

// Takes the calls of all other methods.
extern const struct method unknown_method;
