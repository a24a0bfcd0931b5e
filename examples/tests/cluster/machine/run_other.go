// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "errors"

func run(options) error { return errors.New("namespaces need Linux") }
