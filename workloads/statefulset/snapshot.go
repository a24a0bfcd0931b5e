// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Set is the StatefulSet. Required.
	Set *v1beta1.StatefulSet
	// Revisions are those that the StatefulSet owns, and those without a
	// controller that match its selector, in any order.
	Revisions []*appsv1.ControllerRevision
	// Pods are those named after the StatefulSet and an ordinal, whatever owns
	// them, whatever their phase, in any order.
	Pods []*corev1.Pod
	// Claims holds the existing claims of the pods that there are and of those
	// that should be. It also holds others that name the StatefulSet as an owner, by name.
	Claims map[string]*corev1.PersistentVolumeClaim
	// Classes are the storage classes of claims that are to grow, by their names. One that is not there does not exist.
	Classes map[string]*storagev1.StorageClass
	// Jobs names the image pull jobs that the StatefulSet controls.
	Jobs []string
	// BackOff says when pods may be replaced that ended without having run, by
	// their names. One that is not named may be replaced at once.
	BackOff map[string]time.Time
	// Refused are the updates in place that the API server has refused.
	Refused rollout.Refusals
	// HeldSince is when what holds the StatefulSet up began, as far as a controller remembers. (STS-29)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan. Required.
	Now time.Time
	// Features switches behaviour.
	Features Features
}

// Features switches what differs between installations.
type Features struct {
	// NoAutoDeleteClaims ignores spec.persistentVolumeClaimRetentionPolicy;
	// owners of claims are left as they are.
	NoAutoDeleteClaims bool
	// NoEnvFromMetadata treats a changed label or annotation as plain
	// metadata, even if the environment of a container refers to it. For
	// clusters whose nodes run no agent.
	NoEnvFromMetadata bool
	// InPlaceResize changes cpu and memory of containers in place, by the subresource resize
	// of pods (Kubernetes 1.33 and later). Pods that cannot be resized are recreated, as all
	// are without it.
	InPlaceResize bool
	// LaunchPriority makes pods whose containers start in the order that the
	// template asks for, without a pod webhook. It needs the controller of
	// package launchpriority to run: no other controller starts these containers.
	LaunchPriority bool
	// PreDownload pulls images to the nodes ahead of an in-place update. It
	// needs Options.Jobs. Containers whose imagePullPolicy is Always, the default
	// in workloads, still ask the registry when they start; they download
	// nothing. With IfNotPresent they start without it.
	PreDownload bool
	// PreDownloadSandboxConfig gives jobs that pull images ahead the labels and annotations of the pods, for container runtimes
	// that choose by them how they pull. OpenKruise does so from 1.5 on. (IP-44)
	PreDownloadSandboxConfig bool

	// StartOrdinal lets spec.ordinals.start say which ordinal comes first. The gate StatefulSetStartOrdinal of OpenKruise 1.7. (STS-31)
	StartOrdinal bool
	// RepeatedOrdinals lets spec.reserveOrdinals name an ordinal more than once, as OpenKruise 1.8 does. Only the Webhook looks at
	// it: a controller never minds. (STS-32)
	RepeatedOrdinals bool
	// PartitionCountsPods makes the partition of an update in order a number of pods, as OpenKruise 1.8 has it. Without it, it is an
	// ordinal. (STS-33)
	PartitionCountsPods bool
	// UpdateUnavailable updates every pod that does not serve, however many they are, as OpenKruise 1.6 does. The first pod that
	// serves ends the walk while maxUnavailable pods do not. (STS-34)
	UpdateUnavailable bool
	// SpecifiedDelete deletes pods that have the label apps.kruise.io/specified-delete, and creates them anew, as OpenKruise 1.5.5
	// does. (STS-35)
	SpecifiedDelete bool
	// PreNormal has the preNormal hook hold new pods back, and asks of available pods that no hook has taken them aside, as
	// OpenKruise 1.8 does. (STS-36)
	PreNormal bool
	// PreparingUpdateAsUpdate counts pods in the state PreparingUpdate as updated when an unordered update chooses pods. The gate of
	// that name of OpenKruise 1.5. (STS-37)
	PreparingUpdateAsUpdate bool
	// KeepClaimLabels gives claims the labels of their claim template beside those of the selector, as OpenKruise 1.9 does. (STS-38)
	KeepClaimLabels bool
	// NoPodIndexLabel leaves the label apps.kubernetes.io/pod-index out of new pods. The gate PodIndexLabel of OpenKruise 1.7,
	// turned off. (STS-39)
	NoPodIndexLabel bool
	// ResizeClaims lets spec.volumeClaimUpdateStrategy grow existing claims. The gate StatefulSetAutoResizePVCGate of OpenKruise 1.8. It
	// takes the right to read storage classes, and to patch claims. (STS-40 to STS-43)
	ResizeClaims bool
	// CountClaims writes status.volumeClaims, as OpenKruise 1.8 does. (STS-44)
	CountClaims bool
}

// FeaturesOf returns the features as a release has them by default. For a release that is not known it returns those of 1.4.
func FeaturesOf(release podwright.Release) Features {
	if release != podwright.Release19 {
		return Features{}
	}
	return Features{RepeatedOrdinals: true, PartitionCountsPods: true, UpdateUnavailable: true, SpecifiedDelete: true, PreNormal: true, KeepClaimLabels: true,
		CountClaims: true, PreDownloadSandboxConfig: true}
}

// selector returns the StatefulSet's selector, which selects something.
func (s *Snapshot) selector() (labels.Selector, error) { return podplan.Selector(s.Set.Spec.Selector) }

// replicas is the number of pods wanted, 1 if the spec leaves it open.
func (s *Snapshot) replicas() int32 { return ptr.Deref(s.Set.Spec.Replicas, 1) }
