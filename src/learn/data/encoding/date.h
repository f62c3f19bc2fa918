/* date.h - days of the Gregorian calendar as numbers. */
#ifndef DATA_ENCODING_DATE_H
#define DATA_ENCODING_DATE_H

struct date {
    int year, month, day;
};
/** Days since 1970-01-01. */
double days_of_date(struct date d);
/** Of a number that is none, or lies far outside of the calendar: the nearest that it has. */
struct date date_of_days(double days);

#endif
