// SPDX-License-Identifier: Apache-2.0

// Package policies holds the agent of a node to its own node. RBAC knows no nodes:
// the rules that an agent needs let it write to the pods, requests and tasks of all
// of them. [New] returns ValidatingAdmissionPolicies that let the account of the agents
// write only what belongs to the node that its token names. There they let it write only what
// the features of package nodeagent write. They say nothing about requests of others.
//
// The API server puts the node into a token that is bound to a pod or to a node.
// Those that a kubelet mounts are. That takes Kubernetes 1.30, as the policies do.
// A token that names no node may write nothing.
//
// What an agent reads no policy can narrow. And policies see what is about to be
// stored. A mutating webhook that changes pods or requests whenever their status is
// written makes the agents' writes look like more than they are. It has to leave
// their account alone.
//
// The package needs API types alone, so that a program that installs the policies need not
// link an agent.
package policies
