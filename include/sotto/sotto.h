/* sotto.h - all headers with a promise. Errors: sotto/base.h. Everything else is sotto/lab.h, which may change with any
 * version. */
#ifndef SOTTO_SOTTO_H
#define SOTTO_SOTTO_H

#include "sotto/account.h"
#include "sotto/attack.h"
#include "sotto/audit.h"
#include "sotto/base.h"
#include "sotto/certificate.h"
#include "sotto/head.h"
#include "sotto/ledger.h"
#include "sotto/option.h"
#include "sotto/release.h"
#include "sotto/run.h"
#include "sotto/sign.h"
#include "sotto/verify.h"

#endif
