// SPDX-License-Identifier: Apache-2.0

// Package resources computes the requests and limits of a sidecar from those of a pod's own containers, as
// spec.containers[].resourcesPolicy says.
//
// [Parse] reads an expression such as max(cpu*50%, 50m), and [Expression.Evaluate] computes it. [Sum] and [Max] put together what the
// pod's containers have, and [Compute] does all of it for a policy. Nothing here reads a clock or a cluster, and nothing changes what
// it is given.
//
// The rules are SCI-21 to SCI-29 in RULES.md of package injection.
//
// # Differences
//
// OpenKruise 1.9 tries an expression at admission with the number 1. So cpu*cpu passes, and each pod is refused later. Here the variable is a
// quantity, several of them are tried, and what passes works (SCI-26). The variable is that of the field: MEMORY is memory, and 0.5
// for memory is cut to whole bytes (SCI-24). Units that do not exist are refused, and stand there for 0 (SCI-21). Requests that come out above
// limits become the limits, since the API server would refuse the pod (SCI-29).
package resources
