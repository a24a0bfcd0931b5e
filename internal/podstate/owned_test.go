// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// CT-7: what users write stays, and the template is not changed.
func TestUnowned(t *testing.T) {
	ownedKeys := []string{
		lifecyclev1alpha1.SpecifiedDeleteLabel, lifecyclev1alpha1.StateLabel, lifecyclev1alpha1.TimestampAnnotation, lifecyclev1alpha1.EvictionDeniedAnnotation,
		inplacev1alpha1.StateAnnotation, inplacev1alpha1.LegacyStateAnnotation, inplacev1alpha1.GraceAnnotation, inplacev1alpha1.LegacyGraceAnnotation,
		inplacev1alpha1.RuntimeContainersMetaAnnotation, lifecyclev1alpha1.LaunchPriorityCompletedAnnotation, workloadsv1alpha1.ReservedPodLabel, distributionv1alpha1.MatchedWorkloadSpreadAnnotation,
		distributionv1alpha1.InjectedPersistentPodStateAnnotation, distributionv1alpha1.InjectedNodeSelectorAnnotation, availabilityv1alpha1.RelatedPubAnnotation,
		sidecarv1alpha1.SidecarSetHashAnnotation, sidecarv1alpha1.SidecarSetHashWithoutImageAnnotation, sidecarv1alpha1.SidecarSetInjectedListAnnotation,
		sidecarv1alpha1.SidecarSetInPlaceUpdateStateAnnotation, sidecarv1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation, sidecarv1alpha1.SidecarPhaseWrittenAnnotation,
	}
	template := map[string]string{
		"app": "web", "apps.kruise.io/container-launch-priority": "Ordered", "pub.kruise.io/no-protect": "true", "controller.kubernetes.io/pod-deletion-cost": "5",
	}
	for _, key := range ownedKeys {
		template[key] = "{}"
	}
	before := maps.Clone(template)
	want := map[string]string{"app": "web", "apps.kruise.io/container-launch-priority": "Ordered", "pub.kruise.io/no-protect": "true", "controller.kubernetes.io/pod-deletion-cost": "5"}
	if diff := cmp.Diff(want, podstate.Unowned(template)); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
	if diff := cmp.Diff(before, template); diff != "" {
		t.Errorf("the template was changed: %s", diff)
	}
	if diff := cmp.Diff(ownedKeys, podstate.Owned(template)); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
	if got := podstate.Unowned(nil); got != nil || podstate.Owned(want) != nil {
		t.Errorf("%v of nothing", got)
	}
}
