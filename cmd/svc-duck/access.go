//go:build cgo && linux

package main

import "C" // for access.c
