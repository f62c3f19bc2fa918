/* sotto.h - all public headers. Errors: sotto/base.h. Texts, bytes and arrays: sotto/io.h. */
#ifndef SOTTO_SOTTO_H
#define SOTTO_SOTTO_H

#include "sotto/account.h"
#include "sotto/attack.h"
#include "sotto/audit.h"
#include "sotto/autotune.h"
#include "sotto/base.h"
#include "sotto/canary.h"
#include "sotto/compose.h"
#include "sotto/data.h"
#include "sotto/dp.h"
#include "sotto/fine_tune.h"
#include "sotto/head.h"
#include "sotto/io.h"
#include "sotto/local.h"
#include "sotto/option.h"
#include "sotto/query.h"
#include "sotto/report.h"
#include "sotto/run.h"
#include "sotto/selftest.h"
#include "sotto/sign.h"
#include "sotto/smooth.h"
#include "sotto/ssl.h"
#include "sotto/team.h"
#include "sotto/train.h"
#include "sotto/verify.h"

#endif
