// SPDX-License-Identifier: Apache-2.0

// Package realnodes tests the node agent on a real node: a kubelet, a containerd and
// containers that run. It holds tests only. If a machine cannot run real nodes,
// it says what is missing and does nothing.
package realnodes
