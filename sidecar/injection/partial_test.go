// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/injection/policy"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Which pods get the revision that injectionStrategy names, and which the spec. (SCI-3, SCS-31)
func TestPartialRevision(t *testing.T) {
	const earlier, present, refused = "log:1", "log:2", "refused"
	for _, test := range []struct {
		name, policy, strategy string
		lot                    float64
		want                   string
	}{
		{"Always", "Always", "partition: 0", 0.99, earlier},
		{"no policy is Always", "", "partition: 0", 0.99, earlier},
		{"no partition", "Partial", "", 0, present},
		{"a number", "Partial", "partition: 100", 0, present},
		{"nothing stays", "Partial", "partition: 0%", 0, present},
		{"90%, just below", "Partial", "partition: 90%", 0.899, earlier},
		{"90%, just above", "Partial", "partition: 90%", 0.9, present},
		{"all stay", "Partial", "partition: 100%", 0.999, earlier},
		{"paused", "Partial", "paused: true", 0.99, earlier},
		{"the selector matches", "Partial", "selector: {matchLabels: {app: web}}", 0.99, present},
		{"the selector does not match", "Partial", "selector: {matchLabels: {app: db}}, partition: 0%", 0.99, earlier},
		{"whatever the type", "Partial", "type: NotUpdate, partition: 90%", 0.5, earlier},
		{"no percentage", "Partial", "partition: few", 0, refused},
		{"no selector", "Partial", "selector: {matchExpressions: [{key: a, operator: Like}]}", 0, refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := setOf(t, "demo", "{containers: [{name: log, image: 'log:2'}], injectionStrategy: {revision: {revisionName: demo-1, policy: '"+test.policy+"'}}, updateStrategy: {"+test.strategy+"}}")
			set.Status.LatestRevision = "demo-2"
			in := injection.Input{Pod: podOf(t, "{labels: {app: web}}", mainOnly), SidecarSets: []*v1alpha1.SidecarSet{set}, Revisions: []*appsv1.ControllerRevision{revisionOf("demo-1", "log:1")},
				Lots: map[string]float64{"demo": test.lot}, Now: noon}
			for again := range 2 {
				r, err := injection.Inject(in)
				if err != nil {
					if test.want != refused || !strings.Contains(err.Error(), "SidecarSet demo: spec.updateStrategy.") {
						t.Errorf("error %v", err)
					}
					return
				}
				revision := map[string]string{earlier: "demo-1", present: "demo-2"}[test.want]
				if got := r.Pod.Spec.Containers[0].Image; got != test.want || !strings.Contains(r.Pod.Annotations[v1alpha1.SidecarSetHashAnnotation], revision) {
					t.Errorf("again %d: %s, want %s; %s", again, got, test.want, r.Pod.Annotations)
				}
				in.Pod, in.Lots = r.Pod, map[string]float64{"demo": 1 - test.lot} // another lot changes nothing (SCI-16)
			}
		})
	}
}

func revisionOf(name, image string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha1.SidecarSetNameLabel: "demo"}},
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"$patch":"replace","containers":[{"name":"log","image":"` + image + `"}]}}`)}}
}

// No policy of the API server draws lots: a webhook injects then. (SCS-31)
func TestPartialNeedsTheWebhook(t *testing.T) {
	set := setOf(t, "demo", "{containers: [{name: log, image: 'log:2'}], injectionStrategy: {revision: {revisionName: demo-1, policy: Partial}}}")
	if _, err := policy.Compile(policy.Input{SidecarSet: set, Created: noon}); err == nil || !strings.Contains(err.Error(), "policy is Partial") {
		t.Errorf("error %v", err)
	}
}

// TestWantedOfItsOwn: SCI-3. A SidecarSet that was deleted, and left its revisions behind, had more of them than the present one of
// its name.
func TestWantedOfItsOwn(t *testing.T) {
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid-of-web"}}
	set.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{CustomVersion: ptr.To("v1")}
	revision := func(name string, number int64, controlled bool) *appsv1.ControllerRevision {
		r := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1alpha1.SidecarSetNameLabel: "web", v1alpha1.SidecarSetCustomVersionLabel: "v1"}}, Revision: number}
		if controlled {
			r.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, v1alpha1.SchemeGroupVersion.WithKind("SidecarSet"))}
		}
		return r
	}
	left, older, own := revision("left", 7, false), revision("older", 1, true), revision("own", 2, true)
	for _, test := range []struct {
		name      string
		revisions []*appsv1.ControllerRevision
		want      string
	}{
		{"left behind comes first", []*appsv1.ControllerRevision{left, older, own}, "own"},
		{"left behind comes last", []*appsv1.ControllerRevision{own, older, left}, "own"},
		{"all are left behind", []*appsv1.ControllerRevision{revision("first", 1, false), left}, "left"},
	} {
		if got, err := injection.Wanted(set, test.revisions); err != nil || got.Name != test.want {
			t.Errorf("%s: %v, error %v, want %s", test.name, got, err, test.want)
		}
	}
}
