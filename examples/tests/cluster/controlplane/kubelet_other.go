// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newKubelet returns a command that fails: nodes that run real containers need Linux.
func newKubelet() *cobra.Command {
	return &cobra.Command{RunE: func(*cobra.Command, []string) error {
		return errors.New("the kubelet needs Linux")
	}}
}
