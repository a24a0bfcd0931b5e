// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// newKubelet returns the command of the kubelet, which is at home on Linux.
func newKubelet() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }
