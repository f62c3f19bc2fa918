/* account_memo.h - whether accounts are made once a process (account_memo.c). In the program that tests accounts a group, or
 * a part of a test, that is about something else asks for it: `.start = remember_accounts`. */
#ifndef TESTS_ACCOUNT_MEMO_H
#define TESTS_ACCOUNT_MEMO_H

void remember_accounts(void);

#endif
