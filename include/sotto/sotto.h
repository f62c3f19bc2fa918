/* sotto.h - all public headers. Errors: sotto/base.h. Texts, bytes and arrays: sotto/private/io.h. */
#ifndef SOTTO_SOTTO_H
#define SOTTO_SOTTO_H

#include "sotto/account.h"
#include "sotto/attack.h"
#include "sotto/audit.h"
#include "sotto/base.h"
#include "sotto/dp.h"
#include "sotto/head.h"
#include "sotto/lab/autotune.h"
#include "sotto/lab/canary.h"
#include "sotto/lab/compose.h"
#include "sotto/lab/data.h"
#include "sotto/lab/fine_tune.h"
#include "sotto/lab/local.h"
#include "sotto/lab/selftest.h"
#include "sotto/lab/smooth.h"
#include "sotto/lab/ssl.h"
#include "sotto/lab/train.h"
#include "sotto/option.h"
#include "sotto/private/io.h"
#include "sotto/private/team.h"
#include "sotto/query.h"
#include "sotto/report.h"
#include "sotto/run.h"
#include "sotto/sign.h"
#include "sotto/verify.h"

#endif
