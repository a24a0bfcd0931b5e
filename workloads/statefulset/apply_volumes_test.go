// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// growing has the controller resize claims, of a class that a function says, and runs one pod with a claim that is bound. The
// function that it returns is the merge patch that gives the claim template a size.
func (c *cluster) growing(class func(context.Context, string) (*storagev1.StorageClass, error), limits string) (template func(storage string) string) {
	c.T.Helper()
	c.options.Features.ResizeClaims, c.options.StorageClass = true, class
	c.restart()
	template = func(storage string) string {
		return `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"storageClassName":"fast","resources":{"requests":{"storage":"` + storage + `"}` + limits + `}}}]}}`
	}
	c.create(1, spec(c, template("10Gi"), `{"spec":{"volumeClaimUpdateStrategy":{"type":"OnPodRollingUpdate"}}}`))
	c.Settle()
	claim := c.claim("data-web-0")
	claim.Status.Phase, claim.Status.Capacity = corev1.ClaimBound, claim.Spec.Resources.Requests
	_, err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).UpdateStatus(c.T.Context(), claim, metav1.UpdateOptions{})
	c.Must(err)
	c.Settle()
	return template
}

// expansible is a class that lets volumes grow.
func expansible(context.Context, string) (*storagev1.StorageClass, error) {
	return &storagev1.StorageClass{AllowVolumeExpansion: new(true)}, nil
}

func (c *cluster) claim(name string) *corev1.PersistentVolumeClaim {
	c.T.Helper()
	claim, err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return claim
}

// STS-41: a claim asks for more storage, and nothing else about it changes. An API server would refuse that.
func TestResizeOfClaim(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		template := c.growing(expansible, `,"limits":{"storage":"15Gi"}`)
		c.Edit(strings.Replace(template("20Gi"), "15Gi", "30Gi", 1))
		requests, claim := c.Settle(), c.claim("data-web-0")
		if asks, limit := claim.Spec.Resources.Requests.Storage().String(), claim.Spec.Resources.Limits.Storage().String(); asks != "20Gi" || limit != "15Gi" {
			t.Errorf("the claim asks for %s, with the limit %s; requests %v", asks, limit, requests)
		}
		if got := claim.Annotations["apps.kruise.io/owned-by-asts"]; got != "web" {
			t.Errorf("the claim is owned by %q", got)
		}
		if events := strings.Join(c.Events.All(), "\n"); !strings.Contains(events, "SuccessfulResize: resize Claim data-web-0 Pod web-0 in StatefulSet web success") {
			t.Errorf("events:\n%s", events)
		}
	})
}

// STS-45: that claims stay larger than their template is told once for each size of the template.
func TestClaimsStayLarger(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.options.Features.ResizeClaims = true
		c.restart()
		templates := func(data, logs string) string {
			const one = `{"metadata":{"name":"%s"},"spec":{"storageClassName":"fast","resources":{"requests":{"storage":"%s"}}}}`
			return `{"spec":{"volumeClaimTemplates":[` + fmt.Sprintf(one, "data", data) + "," + fmt.Sprintf(one, "logs", logs) + `]}}`
		}
		c.create(2, spec(c, templates("20Gi", "20Gi"), `{"spec":{"podManagementPolicy":"Parallel","volumeClaimUpdateStrategy":{"type":"OnPodRollingUpdate"}}}`))
		c.Settle()
		const stay = " than spec.volumeClaimTemplates does by now, and stay so: storage does not shrink; claims of new pods are smaller"
		const stays = " than spec.volumeClaimTemplates does by now, and stays so: storage does not shrink; claims of new pods are smaller"
		var before []string
		for _, step := range []struct{ name, edit, want string }{
			{"a smaller template", templates("15Gi", "20Gi"), "claim data-web-0 and 1 more ask for more" + stay},
			{"another change", `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":1}}}}`, ""},
			{"another smaller template", templates("15Gi", "10Gi"), "claim logs-web-0 and 1 more ask for more" + stay},
			{"a smaller one yet", templates("12Gi", "10Gi"), "claim data-web-0 and 1 more ask for more" + stay},
			{"back again", templates("20Gi", "10Gi"), ""},
			{"to one that was told before", templates("12Gi", "10Gi"), "claim data-web-0 and 1 more ask for more" + stay},
			{"a pod goes", `{"spec":{"replicas":1}}`, ""},
			{"a single claim", templates("11Gi", "10Gi"), "claim data-web-0 asks for more" + stays},
		} {
			c.Edit(step.edit)
			c.Settle()
			var told []string
			for _, event := range c.Events.All()[len(before):] {
				if _, text, is := strings.Cut(event, "KeptClaimSize: "); is {
					told = append(told, text)
				}
			}
			if got := strings.Join(told, "\n"); got != step.want {
				t.Errorf("%s: told %q, want %q", step.name, got, step.want)
			}
			before = c.Events.All()
		}
	})
}

// STS-41: what refuses a resize, such as a quota, is told by an event and by FailedUpdatePod, and it is tried again.
func TestResizeIsRefused(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		grows, missing, reads := true, false, 0
		template := c.growing(func(context.Context, string) (*storagev1.StorageClass, error) {
			if reads++; missing { // with an object, as clients answer
				return &storagev1.StorageClass{AllowVolumeExpansion: new(true)}, apierrors.NewNotFound(storagev1.Resource("storageclasses"), "fast")
			}
			return &storagev1.StorageClass{AllowVolumeExpansion: &grows}, nil
		}, "")
		if reads > 0 {
			t.Errorf("%d reads of classes, and no claim is too small", reads)
		}
		c.FailBefore(fixture.Fail("patch persistentvolumeclaims", fixture.ErrQuota))
		c.Edit(template("20Gi"))
		_, _, _ = c.ReconcileOnce()
		if events := strings.Join(c.Events.All(), "\n"); !strings.Contains(events, "FailedResize: resize Claim data-web-0 for Pod web-0 in StatefulSet web failed error: ") {
			t.Errorf("events:\n%s", events)
		}
		if conditions := fmt.Sprint(c.get().Status.Conditions); !strings.Contains(conditions, "FailedUpdatePod") || !strings.Contains(conditions, "resize claim data-web-0 of pod web-0") {
			t.Errorf("conditions %s", conditions)
		}
		grows = false // STS-42
		_, _, _ = c.ReconcileOnce()
		if events := strings.Join(c.Events.All(), "\n"); !strings.Contains(events, "FailedUpdatePVC: resize claim data-web-0 of pod web-0: its storage class fast does not let volumes grow") {
			t.Errorf("events:\n%s", events)
		}
		grows, missing = true, true
		_, _, _ = c.ReconcileOnce()
		if events := strings.Join(c.Events.All(), "\n"); !strings.Contains(events, "FailedUpdatePVC: resize claim data-web-0 of pod web-0: its storage class fast does not exist") {
			t.Errorf("events:\n%s", events)
		}
		missing = false
		c.FailBefore(nil)
		c.Settle()
		if got := c.claim("data-web-0").Spec.Resources.Requests.Storage().String(); got != "20Gi" {
			t.Errorf("the claim asks for %s", got)
		}
	})
}

// STS-41: a claim that another manager has had ask for more since it was observed does not ask for less again. What else a
// reconcile changes about a claim is not in the way of its resize.
func TestResizeOfClaimThatHasChanged(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		template := c.growing(expansible, "")
		other := func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.Verb == "patch" && r.Resource == "persistentvolumeclaims" {
				_, err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).Patch(t.Context(), "data-web-0", types.MergePatchType, []byte(`{"spec":{"resources":{"requests":{"storage":"30Gi"}}}}`), metav1.PatchOptions{})
				return err
			}
			return nil
		}
		c.FailBefore(other)
		c.Edit(template("20Gi"))
		_, _, err := c.ReconcileOnce()
		c.FailBefore(nil)
		claim := c.claim("data-web-0")
		if asks := claim.Spec.Resources.Requests.Storage().String(); asks != "30Gi" || !apierrors.IsConflict(fixture.FirstStatus(err)) {
			t.Errorf("the claim asks for %s, error %v", asks, err)
		}
		if events, conditions := strings.Join(c.Events.All(), "\n"), fmt.Sprint(c.get().Status.Conditions); strings.Contains(events, "FailedResize") || strings.Contains(conditions, "FailedUpdatePod") {
			t.Errorf("a conflict is no failure: events\n%s\nconditions %s", events, conditions)
		}
		c.Settle()
		c.Edit(spec(c, template("40Gi"), `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`))
		if _, _, err := c.ReconcileOnce(); err != nil {
			t.Errorf("a resize and a new owner: %v", err)
		}
		claim = c.claim("data-web-0")
		if asks := claim.Spec.Resources.Requests.Storage().String(); asks != "40Gi" || len(claim.OwnerReferences) != 1 {
			t.Errorf("the claim asks for %s, with the owners %v", asks, claim.OwnerReferences)
		}
	})
}

// STS-42: without another reader classes are read from the API server, each once, and those alone that are asked about.
func TestClassesAreReadFromTheServer(t *testing.T) {
	kube := fake.NewClientset(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, AllowVolumeExpansion: new(true)})
	r := &reconciler{options: Options{Kubernetes: kube}}
	logs := func(s *Snapshot) {
		template := s.Set.Spec.VolumeClaimTemplates[0].DeepCopy()
		template.Name = "logs"
		s.Set.Spec.VolumeClaimTemplates = append(s.Set.Spec.VolumeClaimTemplates, *template)
		s.Claims["logs-web-1"] = claimOfWord("logs-web-1", "5")
		s.Pods[1].Spec.Volumes = append(s.Pods[1].Spec.Volumes, corev1.Volume{Name: "logs", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "logs-web-1"}}})
	}
	for _, test := range []struct {
		claims string
		reads  int
		edits  []edit
	}{
		{"10 10 20", 1, nil},
		{"20 10 20", 1, nil},
		{"20 20 20", 0, nil},
		{"10x 10x 10x", 0, nil},
		{"20 20 20", 1, []edit{logs}}, // of the second claim of a pod
		{"10 10 10", 0, []edit{func(s *Snapshot) { s.Set.Spec.VolumeClaimUpdateStrategy = nil }}},
	} {
		s := testSnapshot(t, "A", "A", "0A 1A 2A", append([]edit{grown(20, test.claims)}, test.edits...)...)
		s.Classes = nil
		kube.ClearActions()
		if err := r.observeClasses(t.Context(), s); err != nil || len(kube.Actions()) != test.reads || len(s.Classes) != test.reads {
			t.Errorf("claims %s: %d reads, classes %v, error %v; want %d", test.claims, len(kube.Actions()), s.Classes, err, test.reads)
		}
		if class := s.Classes["fast"]; test.reads > 0 && (class == nil || !*class.AllowVolumeExpansion) {
			t.Errorf("claims %s: class %v", test.claims, class)
		}
	}
}
