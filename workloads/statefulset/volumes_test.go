// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func gigabytes(n int) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(fmt.Sprintf("%dGi", n))}
}

// grown has the rolling update grow claims: the template data asks for so many Gi, and each pod has a claim that a word
// describes. "10/5" asks for 10 and has 5, "10" has what it asks for, and "-" is no claim. A suffix "fs" has a file system that
// grows with the pod, "x" another class, "u" no volume yet. The suffix "!" has a resize that failed, and "!o" one that a user
// began.
func grown(want int, claims string) edit {
	return func(s *Snapshot) {
		s.Features.ResizeClaims = true
		s.Set.Spec.VolumeClaimUpdateStrategy = &v1beta1.StatefulSetVolumeClaimUpdateStrategy{Type: v1beta1.OnPodRollingUpdateVolumeClaimUpdateStrategyType}
		s.Set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("fast"), Resources: corev1.VolumeResourceRequirements{Requests: gigabytes(want)}}}}
		s.Classes = map[string]*storagev1.StorageClass{"fast": {AllowVolumeExpansion: new(true)}}
		for i, word := range strings.Fields(claims) {
			name := "data-" + s.Pods[i].Name
			s.Pods[i].Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
			if word == "-" {
				continue
			}
			s.Claims[name] = claimOfWord(name, word)
		}
	}
}

func claimOfWord(name, word string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("fast")}}
	sizes := strings.TrimRight(word, "fsxuo!")
	asks, has := 0, 0
	if _, err := fmt.Sscanf(sizes, "%d/%d", &asks, &has); err != nil {
		_, _ = fmt.Sscanf(sizes, "%d", &asks)
		has = asks
	}
	claim.Spec.Resources.Requests, claim.Status.Capacity = gigabytes(asks), gigabytes(has)
	switch strings.TrimPrefix(word, sizes) {
	case "fs":
		claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{Type: corev1.PersistentVolumeClaimFileSystemResizePending, Status: corev1.ConditionTrue}}
	case "!", "!o":
		claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{Type: corev1.PersistentVolumeClaimControllerResizeError, Status: corev1.ConditionTrue}}
		if word = strings.TrimPrefix(word, sizes); word == "!" {
			claim.Annotations = map[string]string{"apps.kruise.io/owned-by-asts": "web"}
		}
	case "u":
		claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	case "x":
		claim.Spec.StorageClassName = new("slow")
	}
	return claim
}

// resized names the claims that a plan resizes.
func resized(p *Plan) string {
	var names []string
	for _, c := range p.ResizeClaims {
		names = append(names, strings.TrimPrefix(c.Claim.Name, "data-web-")+"="+c.Resources.Requests.Storage().String())
	}
	return strings.Join(names, " ")
}

// beyond has the update walk as OpenKruise 1.6 does.
func beyond(s *Snapshot) { s.Features.UpdateUnavailable = true }

// STS-40 to STS-43: claims that grow.
func TestClaimsGrow(t *testing.T) {
	class := func(of *storagev1.StorageClass) edit { return func(s *Snapshot) { s.Classes["fast"] = of } }
	for _, test := range []struct {
		name                 string
		template, pods       string
		edits                []edit
		resizes, plan, waits string
		problem              string // part of it
		compatible, andReady int32
	}{
		{"STS-40: without the feature claims stay", "A", "0A 1A", with(grown(20, "10 10"), func(s *Snapshot) { s.Features.ResizeClaims = false }), "", "", "", "", 0, 0},
		{"STS-40: OnDelete leaves them alone", "A", "0A 1A", with(grown(20, "10 10"), func(s *Snapshot) { s.Set.Spec.VolumeClaimUpdateStrategy.Type = "OnDelete" }), "", "", "", "", 0, 0},
		{"STS-41: as many pods at a time as may be unavailable", "A", "0A 1A 2A", with(grown(20, "10 10 10")), "2=20Gi", "", "MaxUnavailable 1 0, VolumeResize 2", "", 0, 0},
		{"STS-41: two at a time", "A", "0A 1A 2A", with(grown(20, "10 10 10"), unavailable("2")), "2=20Gi 1=20Gi", "", "MaxUnavailable 0, VolumeResize 2 1", "", 0, 0},
		{"STS-41: one that is resized takes its place", "A", "0A 1A 2A", with(grown(20, "10 10 20/10")), "", "", "MaxUnavailable 1 0, VolumeResize 2", "", 1, 0},
		{"STS-41: one that is done gives it back", "A", "0A 1A 2A", with(grown(20, "10 10 20")), "1=20Gi", "", "MaxUnavailable 0, VolumeResize 1", "", 1, 1},
		{"STS-41: the partition holds claims back", "A", "0A 1A 2A", with(grown(20, "10 10 20"), partition(2)), "", "", "", "", 1, 1},
		{"STS-41: paused", "A", "0A 1A", with(grown(20, "10 10"), paused), "", "", "", "", 0, 0},
		{"STS-41: claims first, then the pod", "B", "0A 1A", with(grown(20, "10 10")), "1=20Gi", "", "MaxUnavailable 0, VolumeResize 1", "", 0, 0},
		{"STS-41: the pod is updated when its claims have grown", "B", "0A 1A", with(grown(20, "10 20")), "", "delete 1 Update", "MaxUnavailable 0", "", 1, 1},
		{"STS-41: a pod that does not serve grows", "A", "0A 1A-", with(grown(20, "10 10")), "1=20Gi", "", "MaxUnavailable 0, VolumeResize 1", "", 0, 0},
		{"STS-41: unordered", "A", "0A 1A", with(grown(20, "10 10"), unordered), "1=20Gi", "", "MaxUnavailable 0, VolumeResize 1", "", 0, 0},
		{"STS-41: a larger claim stays", "A", "0A 1A", with(grown(5, "10 10")), "", "", "", "", 2, 2},
		{"STS-41: a missing claim is passed over", "A", "0A 1A", with(grown(20, "10 -")), "0=20Gi", "", "VolumeResize 0", "", 0, 0},
		{"STS-44: a missing claim does not end the count", "A", "0A 1A 2A", with(grown(20, "- 20 20/10fs")), "", "", "", "", 2, 1},
		{"STS-42: another class", "A", "0A 1A", with(grown(20, "10 10x")), "0=20Gi", "", "VolumeResize 1 0", `resize claim data-web-1 of pod web-1: it has storage class "slow"`, 0, 0},
		{"STS-42: a class that does not let volumes grow", "A", "0A 1A", with(grown(20, "10 10"), class(&storagev1.StorageClass{})), "", "", "VolumeResize 1 0", "does not let volumes grow", 0, 0},
		{"STS-42: a class that does not exist", "A", "0A", with(grown(20, "10"), class(nil)), "", "", "VolumeResize 0", "its storage class fast does not exist", 0, 0},
		{"STS-42: it keeps the pod from its update, and no other", "B", "0A 1A", with(grown(20, "20 10x")), "", "delete 0 Update", "VolumeResize 1", `resize claim data-web-1`, 1, 1},
		{"STS-40: a claim without a volume does not change", "A", "0A 1A", with(grown(20, "20 10u")), "", "", "", "", 1, 1},
		{"STS-40: nor does it hold up its pod", "B", "0A 1A-", with(grown(20, "20 10u")), "", "delete 1 Update", "MaxUnavailable 0", "", 1, 1},
		{"STS-40: nor with the size of its template", "B", "0A 1A-", with(grown(20, "20 20u")), "", "delete 1 Update", "MaxUnavailable 0", "", 2, 1},
		{"STS-43: a file system that grows with its pod holds up nothing", "A", "0A 1A 2A", with(grown(20, "10 10 20/10fs")), "1=20Gi", "", "MaxUnavailable 0, VolumeResize 1", "", 1, 0},
		{"STS-43: nor the update of its pod", "B", "0A 1A", with(grown(20, "10 20/10fs")), "", "delete 1 Update", "MaxUnavailable 0", "", 1, 0},
		{"STS-43: nor a resize that failed, when the template is taken back", "B", "0A 1A", with(grown(10, "10 20/10")), "", "delete 1 Update", "MaxUnavailable 0", "", 2, 1},
		{"STS-43: one that failed is taken back with the template, beyond what it has", "B", "0A 1A", with(grown(20, "10 50/10!")), "1=20Gi", "", "MaxUnavailable 0, VolumeResize 1", "", 1, 0},
		{"STS-43: several that failed are taken back one after the other", "A", "0A 1A 2A", with(grown(20, "50/10! 50/10! 50/10!")), "2=20Gi", "", "MaxUnavailable 1 0, VolumeResize 2", "", 3, 0},
		{"STS-43: one that failed takes no other's place, whom the partition holds back", "B", "0A 1A", with(grown(20, "50/10! 20"), partition(1)), "", "delete 1 Update", "Partition 0", "", 2, 1},
		{"STS-43: nor one that a user began", "B", "0A 1A", with(grown(20, "50/10!o 20"), partition(1)), "", "delete 1 Update", "Partition 0", "", 2, 1},
		{"STS-43: unordered, nor do others that are to stay", "B", "0A 1A 2A", with(grown(20, "50/10! 50/10! 20"), partition(2), unordered), "", "delete 2 Update", "Partition 1 0", "", 3, 1},
		{"STS-43: but one does that is on its way", "B", "0A 1A", with(grown(20, "50/10 20"), partition(1)), "", "", "MaxUnavailable 1, Partition 0", "", 2, 1},
		{"STS-43: or fails on its way to what the template asks for", "B", "0A 1A", with(grown(50, "50/10! 50"), partition(1)), "", "", "MaxUnavailable 1, Partition 0", "", 2, 1},
		{"STS-34: pods that serve wait behind one that grows", "A", "0A 1A 2A", with(grown(20, "10 10 10"), beyond), "2=20Gi", "", "MaxUnavailable 1 0, VolumeResize 2", "", 0, 0},
		{"STS-34: and so do their updates", "B", "0A 1A 2A", with(grown(20, "20 20 10"), beyond), "2=20Gi", "", "MaxUnavailable 1 0, VolumeResize 2", "", 2, 2},
		{"STS-34: one that does not serve takes no other's place", "A", "0A 1A- 2A", with(grown(20, "10 10 20"), beyond), "1=20Gi", "", "MaxUnavailable 0, VolumeResize 1", "", 1, 1},
		{"STS-43: but not while the driver goes on", "B", "0A 1A", with(grown(20, "10 50/10")), "", "", "MaxUnavailable 0, VolumeResize 1", "", 1, 0},
		{"STS-43: one that a user began is not taken back, and holds up its own pod alone", "B", "0A 1A", with(grown(20, "10 50/10!o")), "0=20Gi", "", "VolumeResize 1 0", "", 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			count := func(s *Snapshot) { s.Features.CountClaims = true }
			s := testSnapshot(t, test.template, "A", test.pods, append(test.edits, count)...)
			plan := NewPlan(s)
			if got := resized(plan); got != test.resizes {
				t.Errorf("resizes %q, want %q", got, test.resizes)
			}
			if got := summary(s, plan); got != test.plan {
				t.Errorf("plan %q, want %q", got, test.plan)
			}
			if got := waits(plan); got != test.waits {
				t.Errorf("waiting %q, want %q", got, test.waits)
			}
			if got := problems(plan); !strings.Contains(got, test.problem) || (got == "") != (test.problem == "") {
				t.Errorf("problems %q, want %q", got, test.problem)
			}
			want := []v1beta1.StatefulSetVolumeClaimStatus{{VolumeClaimName: "data", CompatibleReplicas: test.compatible, CompatibleReadyReplicas: test.andReady}}
			if diff := cmp.Diff(want, plan.Status.VolumeClaims); diff != "" {
				t.Errorf("STS-44: status.volumeClaims (-want +got):\n%s", diff)
			}
		})
	}
}

// STS-44: without the features the status has no volumeClaims, as in 1.4.
func TestClaimsAreNotCounted(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A", grown(20, "10"), func(s *Snapshot) { s.Features.ResizeClaims = false })
	if got := NewPlan(s).Status.VolumeClaims; got != nil {
		t.Errorf("status.volumeClaims is %v, want none", got)
	}
}

// STS-41 to STS-43: a CSI driver that fails half-way, and users who change sizes meanwhile. No claim ever asks for less. No more
// pods are resized at a time than may be unavailable. All claims grow when the driver works.
func TestResizesThatFailHalfWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(rt, "pods")
		words, sizes := "", strings.Repeat("10 ", n)
		for i := range n {
			words += fmt.Sprintf("%dA ", i)
		}
		limit := rapid.IntRange(1, 2).Draw(rt, "maxUnavailable")
		s := testSnapshot(t, "A", "A", words, grown(10, sizes), unavailable(fmt.Sprint(limit)))
		apply := func() {
			for _, c := range NewPlan(s).ResizeClaims {
				claim := s.Claims[c.Claim.Name].DeepCopy()
				if c.Resources.Requests.Storage().Cmp(*claim.Spec.Resources.Requests.Storage()) < 0 {
					rt.Fatalf("claim %s would ask for less", claim.Name)
				}
				claim.Spec.Resources = c.Resources
				s.Claims[claim.Name] = claim
			}
			under := 0
			want := s.Set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage()
			for _, claim := range s.Claims {
				if has := claim.Status.Capacity.Storage(); has.Cmp(*claim.Spec.Resources.Requests.Storage()) < 0 && has.Cmp(*want) < 0 {
					under++
				}
			}
			if under > limit {
				rt.Fatalf("%d claims are resized at a time, maxUnavailable %d", under, limit)
			}
		}
		grow := func(claim *corev1.PersistentVolumeClaim) {
			done := claim.DeepCopy()
			done.Status.Capacity = done.Spec.Resources.Requests
			s.Claims[claim.Name] = done
		}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			claim := s.Claims[fmt.Sprintf("data-web-%d", rapid.IntRange(0, n-1).Draw(rt, "claim"))]
			switch rapid.SampledFrom([]string{"reconcile", "reconcile", "grow", "template", "class"}).Draw(rt, "event") {
			case "reconcile":
				apply()
			case "grow":
				grow(claim)
			case "template":
				set := s.Set.DeepCopy()
				set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests = gigabytes(rapid.SampledFrom([]int{5, 10, 20, 30}).Draw(rt, "size"))
				s.Set = set
			case "class":
				s.Classes = map[string]*storagev1.StorageClass{"fast": {AllowVolumeExpansion: new(rapid.Bool().Draw(rt, "allowVolumeExpansion"))}}
			}
		}
		s.Classes = map[string]*storagev1.StorageClass{"fast": {AllowVolumeExpansion: new(true)}}
		for range 2*n + 2 {
			apply()
			for _, claim := range s.Claims {
				grow(claim)
			}
		}
		want := s.Set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage()
		for name, claim := range s.Claims {
			if claim.Status.Capacity.Storage().Cmp(*want) < 0 {
				rt.Fatalf("claim %s has %s in the end, and the template asks for %s", name, claim.Status.Capacity.Storage(), want)
			}
		}
		if plan := NewPlan(s); len(plan.ResizeClaims)+len(plan.Waiting)+len(plan.Problems) > 0 {
			rt.Fatalf("there is something left to do: %v", plan)
		}
	})
}

// STS-45: claims that stay larger than their template are told once for a change of the spec.
func TestLargerClaims(t *testing.T) {
	changed := func(s *Snapshot) { s.Set.Generation, s.Set.Status.ObservedGeneration = 2, 1 }
	observed := func(s *Snapshot) { s.Set.Generation, s.Set.Status.ObservedGeneration = 2, 2 }
	for _, test := range []struct {
		name, pods string
		edits      []edit
		want       []string
	}{
		{"those that ask for more", "0A 1A 2A", with(grown(10, "20 10 20"), changed), []string{"data-web-0", "data-web-2"}},
		{"once", "0A 1A", with(grown(10, "20 20"), observed), nil},
		{"not with OnDelete", "0A", with(grown(10, "20"), changed, func(s *Snapshot) { s.Set.Spec.VolumeClaimUpdateStrategy.Type = "OnDelete" }), nil},
		{"not without the feature", "0A", with(grown(10, "20"), changed, func(s *Snapshot) { s.Features.ResizeClaims = false }), nil},
		{"not one that is taken back", "0A 1A", with(grown(20, "50/10! 50/10!o"), changed), []string{"data-web-1"}},
		{"not one of another class", "0A 1A", with(grown(10, "20x 20"), changed), []string{"data-web-1"}},
		{"not that of a pod that goes", "0A~ 1A", with(grown(10, "20 20"), changed), []string{"data-web-1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := NewPlan(testSnapshot(t, "A", "A", test.pods, test.edits...)).LargerClaims; !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// STS-45: what is held up names the first claim whose file system grows with its pod.
func TestFileSystemsThatGrowLater(t *testing.T) {
	for _, test := range []struct{ name, pods, claims, want string }{
		{"two", "0A 1A 2A", "20 20/10fs 20/5fs", "claim data-web-1: its volume has grown to 20Gi, and its file system of 10Gi grows when the pod starts anew: delete the pod when it suits; of 2 claims"},
		{"one", "0A", "20/10fs", "claim data-web-0: its volume has grown to 20Gi, and its file system of 10Gi grows when the pod starts anew: delete the pod when it suits"},
		{"none", "0A", "20", ""},
		{"one that has enough", "0A", "30/20fs", ""},
		{"one that is yet to grow", "0A", "10/5fs", ""},
		{"one whose pod goes", "0A~", "20/10fs", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, h := range NewPlan(testSnapshot(t, "A", "A", test.pods, grown(20, test.claims))).Held {
				if h.Reason != nil && h.Reason.Rule == heldup.ClaimTooSmall {
					got = append(got, h.Kind+" "+h.Name+": "+h.Reason.Message)
				}
			}
			if text := strings.Join(got, "; "); text != test.want {
				t.Errorf("held up: %q, want %q", text, test.want)
			}
		})
	}
}

// STS-41: of several claims of a pod each grows, whichever need not.
func TestSeveralClaimsOfAPod(t *testing.T) {
	logs := func(want int, word string) edit {
		return func(s *Snapshot) {
			template := s.Set.Spec.VolumeClaimTemplates[0].DeepCopy()
			template.Name, template.Spec.Resources.Requests = "logs", gigabytes(want)
			s.Set.Spec.VolumeClaimTemplates = append(s.Set.Spec.VolumeClaimTemplates, *template)
			claim := claimOfWord("logs-web-0", word)
			s.Claims[claim.Name] = claim
			s.Pods[0].Spec.Volumes = append(s.Pods[0].Spec.Volumes, corev1.Volume{Name: "logs", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}})
		}
	}
	for _, test := range []struct{ name, data, logs, want, waits, problem string }{
		{"both", "10", "5", "0=20Gi logs-web-0=9Gi", "VolumeResize 0 0", ""},
		{"the second", "20", "5", "logs-web-0=9Gi", "VolumeResize 0", ""},
		{"the first", "10", "9", "0=20Gi", "VolumeResize 0", ""},
		{"the first cannot", "10x", "5", "logs-web-0=9Gi", "VolumeResize 0 0", "storage class"},
		{"neither need", "20", "9", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := NewPlan(testSnapshot(t, "A", "A", "0A", grown(20, test.data), logs(9, test.logs)))
			if got := resized(plan); got != test.want || waits(plan) != test.waits || !strings.Contains(problems(plan), test.problem) {
				t.Errorf("resizes %q, want %q; waiting %q, problems %q", got, test.want, waits(plan), problems(plan))
			}
		})
	}
}

// STS-42: a class that does not let volumes grow, or is missing, is read again after a minute.
func TestClassesAreReadAgain(t *testing.T) {
	for _, test := range []struct {
		name  string
		class *storagev1.StorageClass
		want  time.Duration
	}{
		{"it lets volumes grow", &storagev1.StorageClass{AllowVolumeExpansion: new(true)}, 0},
		{"it does not", &storagev1.StorageClass{AllowVolumeExpansion: new(false)}, time.Minute},
		{"it does not say", &storagev1.StorageClass{}, time.Minute},
		{"it is missing", nil, time.Minute},
	} {
		s := testSnapshot(t, "A", "A", "0A", grown(20, "10"), func(s *Snapshot) { s.Classes["fast"] = test.class })
		if got := NewPlan(s).RequeueAfter; got != test.want {
			t.Errorf("%s: again after %v, want %v", test.name, got, test.want)
		}
	}
}

// STS-41: a pod whose claims begin to grow takes a place of those behind it, which say so.
func TestWaitsBehindAResize(t *testing.T) {
	plan := NewPlan(testSnapshot(t, "A", "A", "0A 1A 2A", grown(20, "10 10 10")))
	for _, w := range plan.Waiting {
		if w.Reason.Rule == rollout.RuleMaxUnavailable && w.Reason.Message != "maxUnavailable 1: as many pods before this one are not available" {
			t.Errorf("%s: %s", w.Pod.Name, w.Reason.Message)
		}
	}
	if len(plan.Waiting) != 3 {
		t.Errorf("%d pods wait, want 3", len(plan.Waiting))
	}
}

// STS-41: a pod says how far its claims are, and why a driver fails.
func TestProgressOfAResize(t *testing.T) {
	for word, want := range map[string]string{
		"10":     "claim data-web-0 is resized now",
		"20/10":  "claim data-web-0 is resized: it has 10Gi, and asks for 20Gi",
		"20/10!": "claim data-web-0 is resized: it has 10Gi, and asks for 20Gi; no room",
	} {
		full := func(s *Snapshot) {
			for i := range s.Claims["data-web-0"].Status.Conditions {
				s.Claims["data-web-0"].Status.Conditions[i].Message = "no room"
			}
		}
		plan := NewPlan(testSnapshot(t, "A", "A", "0A", grown(20, word), full))
		if len(plan.Waiting) != 1 || plan.Waiting[0].Reason.Message != want {
			t.Errorf("%s: waiting %v, want %q", word, plan.Waiting, want)
		}
	}
}
