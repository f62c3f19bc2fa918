/* all.h - all headers but those of modules. For the program, the Python package, tests and benches: not installed. */
#ifndef SOTTO_PRIVATE_ALL_H
#define SOTTO_PRIVATE_ALL_H

#include "sotto/lab/account.h"
#include "sotto/lab/array.h"
#include "sotto/lab/audit.h"
#include "sotto/lab/autotune.h"
#include "sotto/lab/canary.h"
#include "sotto/lab/certificate.h"
#include "sotto/lab/compare.h"
#include "sotto/lab/compose.h"
#include "sotto/lab/data.h"
#include "sotto/lab/head.h"
#include "sotto/lab/ledger.h"
#include "sotto/lab/local.h"
#include "sotto/lab/provenance.h"
#include "sotto/lab/query.h"
#include "sotto/lab/release.h"
#include "sotto/lab/report.h"
#include "sotto/lab/run.h"
#include "sotto/lab/selftest.h"
#include "sotto/lab/sensitivity.h"
#include "sotto/lab/ssl.h"
#include "sotto/lab/train.h"
#include "sotto/private/arrays.h"
#include "sotto/private/error.h"
#include "sotto/private/io.h"
#include "sotto/private/option.h"
#include "sotto/private/print.h"
#include "sotto/private/team.h"
#include "sotto/sotto.h"

#endif
