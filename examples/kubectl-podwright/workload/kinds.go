// SPDX-License-Identifier: Apache-2.0

// Package workload holds workloads of podwright's kinds as a command line meets them. They are in whatever version
// the API server has, with fields that this program has never heard of. kubectl's own commands are used on them, and
// what those need is here. That is a type that kubectl's decoders accept ([Object], [Register]), the pod spec within
// it, and patches by strategic merge ([PatchTransport]). The API server takes such patches of built-in kinds only.
package workload

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of the kinds.
const Group = "apps.kruise.io"

// Entry describes a kind to the commands.
type Entry struct {
	// Name is that of the kind, and Resource its plural.
	Name, Resource string
	// Words is how messages call one of them, as kubectl writes "daemon set".
	Words string
	// Template is the path of the pod template. Nil if there is none in a fixed place.
	Template []string
	// Paused is the path of the field that pauses a rollout. Nil if there is none.
	Paused []string
	// Injects are the fields of the spec that pods of others get, and that revisions hold. Nil: the kind makes what it has a template of.
	Injects []string
	// MakesWorkloads says that it makes workloads, and these make the pods.
	MakesWorkloads bool
	// Names says what the names of new pods follow from.
	Names Naming
}

// Naming says what the names of new pods follow from, beside the name of their workload.
type Naming int

// The ways to name pods.
const (
	NamesOfOrdinals Naming = iota // what is known of a manifest
	NamesOfUID                    // the UID: it is known once the workload exists
	NamesOfVersion                // the resourceVersion: it is known once the workload is written
)

// Kinds are those that the commands know, the first ones first in help texts.
var Kinds = []*Entry{
	{Name: "CloneSet", Resource: "clonesets", Words: "cloneset",
		Template: []string{"spec", "template"}, Paused: []string{"spec", "updateStrategy", "paused"}, Names: NamesOfVersion},
	{Name: "StatefulSet", Resource: "statefulsets", Words: "statefulset",
		Template: []string{"spec", "template"}, Paused: []string{"spec", "updateStrategy", "rollingUpdate", "paused"}},
	{Name: "DaemonSet", Resource: "daemonsets", Words: "daemon set",
		Template: []string{"spec", "template"}, Paused: []string{"spec", "updateStrategy", "rollingUpdate", "paused"}, Names: NamesOfUID},
	{Name: "UnitedDeployment", Resource: "uniteddeployments", Words: "united deployment", MakesWorkloads: true},
	{Name: "SidecarSet", Resource: "sidecarsets", Words: "sidecarset", Paused: []string{"spec", "updateStrategy", "paused"},
		Injects: []string{"containers", "imagePullSecrets", "initContainers", "patchPodMetadata", "volumes"}},
	{Name: "BroadcastJob", Resource: "broadcastjobs", Words: "broadcast job", Template: []string{"spec", "template"}},
}

// Makes is what a kind makes, in a word. Nil, for a kind that the commands do not know, makes pods.
func (e *Entry) Makes() string {
	if e != nil && e.MakesWorkloads {
		return "workload"
	}
	return "pod"
}

// NamesPodsBy tells whether the names of new pods follow from that. Nil names no pods.
func (e *Entry) NamesPodsBy(from Naming) bool { return e != nil && e.Names == from }

// KindOf returns the kind of a group and kind, nil for one that is not of podwright.
func KindOf(kind schema.GroupKind) *Entry {
	for _, k := range Kinds {
		if kind == (schema.GroupKind{Group: Group, Kind: k.Name}) {
			return k
		}
	}
	return nil
}
