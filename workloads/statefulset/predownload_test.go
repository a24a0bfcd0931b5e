// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func TestPreDownloadWaitsForUpdatedPods(t *testing.T) {
	s := testSnapshot(t, "B", "A", "0A 1A 2A 3A 4B", inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType))
	s.Features.PreDownload = true
	s.Set.Annotations = map[string]string{inplacev1alpha1.PreDownloadMinUpdatedReadyPodsAnnotation: "1"}
	if got := NewPlan(s).PreDownload; len(got.Create) != 1 {
		t.Errorf("with 1 updated pod: %+v", got)
	}
	s.Pods[4].Labels[appsv1.ControllerRevisionHashLabelKey] = testName(s, "A")
	if got := NewPlan(s).PreDownload; len(got.Create) != 0 || got.Reason == "" {
		t.Errorf("with none: %+v", got)
	}
}

func TestPreDownloadSandboxConfig(t *testing.T) {
	for _, asked := range []bool{false, true} {
		s := testSnapshot(t, "B", "A", "0A 1A 2A 3A 4A", inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType))
		s.Features.PreDownload, s.Features.PreDownloadSandboxConfig = true, asked
		jobs := NewPlan(s).PreDownload.Create
		if len(jobs) != 1 || (jobs[0].Spec.SandboxConfig != nil) != asked {
			t.Errorf("IP-44: asked %t: %+v", asked, jobs)
		}
	}
}
