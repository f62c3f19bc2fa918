/* sanitizer.h - whether this test is built under a sanitizer: gcc defines a macro, clang answers a question. */
#ifndef TESTS_SANITIZER_H
#define TESTS_SANITIZER_H

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { ADDRESS_SANITIZER = 1 };
#else
enum { ADDRESS_SANITIZER = 0 };
#endif

#if defined __SANITIZE_THREAD__ || __has_feature(thread_sanitizer)
enum { THREAD_SANITIZER = 1 };
#else
enum { THREAD_SANITIZER = 0 };
#endif

#endif
