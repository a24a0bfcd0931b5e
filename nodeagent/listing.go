// SPDX-License-Identifier: Apache-2.0

package nodeagent

import "k8s.io/client-go/kubernetes"

// listing is a client whose informers list, and then watch. An API server finds the
// pods of a node by an index when it is asked for a list. If a watch is to begin
// with what there is, it goes through the pods of all nodes, for every agent that
// starts.
type listing struct{ kubernetes.Interface }

// IsWatchListSemanticsUnSupported is what client-go asks a client.
func (listing) IsWatchListSemanticsUnSupported() bool { return true }
