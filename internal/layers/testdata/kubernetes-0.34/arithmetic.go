// SPDX-License-Identifier: Apache-2.0

// The module of this program is what a user has who cannot leave Kubernetes 1.34:
// replace directives hold k8s.io back. It imports all packages of podwright that
// do not run, and "make test-oldest" runs their tests.
package main

import (
	_ "github.com/podwright/podwright/availability/v1alpha1"
	_ "github.com/podwright/podwright/distribution/v1alpha1"
	_ "github.com/podwright/podwright/inplace"
	_ "github.com/podwright/podwright/inplace/podpatch"
	_ "github.com/podwright/podwright/inplace/revision"
	_ "github.com/podwright/podwright/inplace/rollout"
	_ "github.com/podwright/podwright/inplace/v1alpha1"
	_ "github.com/podwright/podwright/lifecycle"
	_ "github.com/podwright/podwright/lifecycle/launchpriority/barrier"
	_ "github.com/podwright/podwright/lifecycle/readiness"
	_ "github.com/podwright/podwright/lifecycle/v1alpha1"
	_ "github.com/podwright/podwright/sidecar/v1alpha1"
	_ "github.com/podwright/podwright/workloads/v1alpha1"
	_ "github.com/podwright/podwright/workloads/v1beta1"
)

func main() {}
