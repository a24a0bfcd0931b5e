// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"encoding/json"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const nativeFields = `"initContainers":[{"name":"proxy","image":"proxy:1","restartPolicy":"Always"}]`

// The webhook of SidecarSets writes the defaults and hashes of its features. (SCI-40, SCI-42)
func TestWebhookFeatures(t *testing.T) {
	for release, want := range map[podwright.Release]v1alpha1.PodInjectPolicyType{podwright.Release14: "", podwright.Release19: v1alpha1.AfterAppContainerType} {
		features := injection.FeaturesOf(release)
		got := applied(t, &sidecarset.Webhook{Injection: features}, request(admissionv1.Create, setWith(nativeFields), ""))
		var given v1alpha1.SidecarSet
		if err := json.Unmarshal([]byte(setWith(nativeFields)), &given); err != nil {
			t.Fatal(err)
		}
		hashes, err := features.HashesOf(&given)
		if err != nil {
			t.Fatal(err)
		}
		if is := got.Annotations[v1alpha1.SidecarSetHashAnnotation]; is != hashes.Containers || got.Spec.InitContainers[0].PodInjectPolicy != want {
			t.Errorf("%s: hash %s, want %s; init containers %+v, want podInjectPolicy %q", release, is, hashes.Containers, got.Spec.InitContainers, want)
		}
	}
}

// The webhook of pods writes the records of its features. (SCI-42)
func TestInjectorFeatures(t *testing.T) {
	for release, want := range map[podwright.Release]int{podwright.Release14: 1, podwright.Release19: 2} {
		var set v1alpha1.SidecarSet
		var pod corev1.Pod
		if err := json.Unmarshal([]byte(setWith(nativeFields)), &set); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(plainPod), &pod); err != nil {
			t.Fatal(err)
		}
		i := &sidecarset.Injector{Reader: &known{sets: []*v1alpha1.SidecarSet{&set}}, Clock: clocktesting.NewFakePassiveClock(time.Unix(1, 0)), Injection: injection.FeaturesOf(release)}
		if err := i.Mutate(t.Context(), createPod(plainPod), &pod); err != nil {
			t.Fatal(err)
		}
		records, err := injection.Records(&pod, v1alpha1.SidecarSetHashAnnotation)
		if list := records["demo"].SidecarList; err != nil || len(list) != want {
			t.Errorf("%s: the record names %v, %v", release, list, err)
		}
	}
}
