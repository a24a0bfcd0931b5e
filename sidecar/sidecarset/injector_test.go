// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const plainPod = `{"metadata":{"generateName":"web-","labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}`

func createPod(pod string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, Operation: admissionv1.Create, Namespace: "shop",
		Object: runtime.RawExtension{Raw: []byte(pod)},
	}
}

// injected are specs of SidecarSets, by their names in scripts.
var injected = map[string]string{
	"any": "{}", "of-shop": "{namespace: shop}", "of-bank": "{namespace: bank}", "of-team-a": "{namespaceSelector: {matchLabels: {team: a}}}",
	"old":         "{injectionStrategy: {revision: {revisionName: demo-1}}}",
	"old-of-bank": "{namespace: bank, injectionStrategy: {revision: {revisionName: demo-1}}}",
	"old-to-half": `{containers: [{name: log, image: "log:1"}],
		injectionStrategy: {revision: {revisionName: demo-1, policy: Partial}}, updateStrategy: {partition: 50%}}`,
	"json":   "{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {a: '1'}}]}",
	"native": "{initContainers: [{name: proxy, image: 'proxy:1', restartPolicy: Always}]}",
}

// injecting has an injector act on pods, and remembers what it measured last.
type injecting struct {
	sidecarset.Injector
	t        *testing.T
	measured string
}

func (i *injecting) Handlers() map[string]http.Handler { return nil }

func (i *injecting) Injected(sets []string, took time.Duration, err error) {
	i.measured = fmt.Sprintf("\n    measured %v %v, refused %t", sets, took, err != nil)
}

// Default shows in place of a patch the containers of the pod, and which of them records name. A second call changes nothing. (SCS-W5)
func (i *injecting) Default(ctx context.Context, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	pod := &corev1.Pod{}
	if err := json.Unmarshal(r.Object.Raw, pod); err != nil {
		i.t.Fatal(err)
	}
	if err := i.Mutate(ctx, r, pod); err != nil {
		return admission.Errored(err)
	}
	first, again := i.measured, pod.DeepCopy()
	if err := i.Mutate(ctx, r, again); err != nil || !reflect.DeepEqual(pod, again) {
		i.t.Errorf("a second call changes %+v to %+v, error %v", pod, again, err)
	}
	i.measured = first
	var shown []string
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		shown = append(shown, c.Name+"="+c.Image)
	}
	if records, err := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation); err != nil || len(records) > 0 {
		shown = append(shown, fmt.Sprint("recorded ", records["demo"].SidecarList))
	}
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(strings.Join(shown, " "))}
}

// TestInjector plays what the injector makes of pods, in testdata/injector: see conformance.PlayAdmission. It shows containers, measures, and the
// events of both calls. With set=any and so on there is one of injected. With knows= there are the namespace shop of team a, the revision
// demo-1, or caches that are not filled; lot= is what is drawn.
func TestInjector(t *testing.T) {
	var last *injecting
	recorder := record.NewFakeRecorder(10)
	conformance.PlayAdmission(t, "testdata/injector", conformance.Admission{
		Kind: "Pod", Group: "core", Versions: []string{"v1"}, Resource: "pods",
		Object: `{metadata: {generateName: web-, namespace: shop, labels: {app: web}}, spec: {containers: [{name: main, image: "nginx:1"}]}}`,
		Asked: func() string {
			out := last.measured
			for len(recorder.Events) > 0 {
				out += "\n    " + <-recorder.Events
			}
			return out
		},
		New: func(args map[string][]string) conformance.Served {
			last = &injecting{t: t, Injector: sidecarset.Injector{Recorder: recorder, Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0))}}
			last.Metrics, last.Injection = last, injection.FeaturesOf(podwright.Release(strings.Join(args["release"], "")))
			if drawn := args["lot"]; drawn != nil {
				last.Lot = func() float64 { return *patches.Object[float64](t, drawn[0]) }
			}
			reader := &known{}
			for _, set := range args["set"] {
				last.Reader = reader
				if set != "none" {
					reader.sets = []*v1alpha1.SidecarSet{setOf(t, "demo", injected[set])}
				}
			}
			switch strings.Join(args["knows"], "") {
			case "shop":
				reader.namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "a"}}}}
			case "demo-1":
				reader.revisions = []*appsv1.ControllerRevision{firstRevision()}
			case "nothing":
				reader.err = apierrors.NewNotFound(corev1.Resource("pods"), "x")
			}
			return last
		}})
}

// firstRevision is that of the SidecarSet demo.
func firstRevision() *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "demo-1", Labels: map[string]string{v1alpha1.SidecarSetNameLabel: "demo"}},
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"containers":[{"name":"log","image":"log:0"}]}}`)}}
}

// By default each pod has a lot at random, which decides whether it gets the earlier revision. (SCS-31)
func TestInjectorDrawsLots(t *testing.T) {
	reader := &known{sets: []*v1alpha1.SidecarSet{setOf(t, "demo", injected["old-to-half"])}, revisions: []*appsv1.ControllerRevision{firstRevision()}}
	images := map[string]int{}
	for range 200 { // one and the same 200 times has a probability of 2 in 2^200
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
		if err := (&sidecarset.Injector{Reader: reader}).Mutate(t.Context(), createPod(plainPod), pod); err != nil {
			t.Fatal(err)
		}
		images[pod.Spec.Containers[0].Image]++
	}
	if len(images) != 2 || images["log:0"]+images["log:1"] != 200 {
		t.Errorf("by lot: %v", images)
	}
}

// What is injected counts for the order in which containers start.
func ExampleInjector() {
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "mesh"}, Spec: v1alpha1.SidecarSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Containers: []v1alpha1.SidecarContainer{{Container: corev1.Container{
			Name: "proxy", Image: "proxy:1", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "100"}}}}},
	}}
	// A program reads informers: NewAdmissionCaches.
	injector := &sidecarset.Injector{Reader: &known{sets: []*v1alpha1.SidecarSet{set}}}
	webhook := &podwebhook.Webhook{Sidecars: injector.Mutate, LaunchPriority: launchpriority.Mutate}

	response := webhook.Default(context.Background(), createPod(plainPod))
	var steps []struct{ Path string }
	if err := json.Unmarshal(response.Patch, &steps); err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range steps {
		fmt.Println(step.Path)
	}
	// Output:
	// /metadata/annotations
	// /metadata/name
	// /spec/containers
}
