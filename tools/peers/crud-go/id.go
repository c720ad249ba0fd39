package main

import (
	"fmt"
	"strconv"
)

// id is the name of a number below 2⁴⁰: its hex digits, and six that check them.
func id(number int64) string {
	check := (uint64(number) + 1) * 0x9e37_79b9_7f4a_7c15 >> 40
	return fmt.Sprintf("%010x%06x", number, check)
}

// numberOf is the number of a name, unless it is damaged.
func numberOf(name string) (int64, bool) {
	if len(name) != 16 {
		return 0, false
	}
	number, err := strconv.ParseInt(name[:10], 16, 64)
	return number, err == nil && id(number) == name
}
