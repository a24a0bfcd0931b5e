package cloneset

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const withClaims = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`

// claims lists the claims with the kinds of their owners.
func (c *cluster) claims() (claims []string) {
	c.T.Helper()
	list, err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, claim := range list.Items {
		owner := "nobody"
		if len(claim.OwnerReferences) > 0 {
			owner = claim.OwnerReferences[0].Kind + " " + claim.OwnerReferences[0].Name
		}
		claims = append(claims, claim.Name+" of "+owner)
	}
	slices.Sort(claims)
	return claims
}

// TestClaimsOfPodsThatTheCacheLacks: a controller starts whose cache of pods is
// older than its cache of claims. (rule 36)
func TestClaimsOfPodsThatTheCacheLacks(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, withClaims)
		c.Settle()
		c.Hold("pods")
		c.Edit(`{"spec":{"replicas":3}}`)
		c.MustPass()
		c.Edit(`{"spec":{"scaleStrategy":{"disablePVCReuse":true}}}`)
		before := c.claims()
		c.restart() // another one, which does not know what this one wrote
		_, _, _ = c.Pass()
		for _, claim := range before {
			if !slices.Contains(c.claims(), claim) {
				t.Errorf("%s is gone, and its pod runs", claim)
			}
		}
		c.Release("pods")
		c.Settle()
	})
}

// TestNamesOfOthers: the name of a pod to come is somebody else's, for good.
func TestNamesOfOthers(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(c *cluster, pod *corev1.Pod)
		owner string // of the claim, afterwards
	}{
		{"a pod that a user has taken out, with its claim", func(c *cluster, pod *corev1.Pod) {
			c.PatchPod(pod.Name, `{"metadata":{"ownerReferences":null}}`)
		}, "Pod"},
		{"a pod of the same name", func(c *cluster, pod *corev1.Pod) { c.ReplacePod(pod.Name) }, "nobody"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(3, withClaims)
				c.Settle()
				pod := c.Pods()[0]
				test.spoil(c, &pod)
				c.Edit(`{"spec":{"replicas":6}}`)
				for range 20 {
					_, _, _ = c.Pass()
					c.KubeletStep()
				}
				if status := c.get().Status; status.ReadyReplicas != 6 {
					t.Errorf("status %+v", status)
				}
				name := fmt.Sprintf("data-%s of %s", pod.Name, test.owner)
				if test.owner == "Pod" {
					name += " " + pod.Name
				}
				if !slices.Contains(c.claims(), name) {
					t.Errorf("%s is not among the claims %q", name, c.claims())
				}
			})
		})
	}
}

// TestClaimIsDeletedOnce is rule 36, with the question whether the pod is gone.
func TestClaimIsDeletedOnce(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, withClaims)
		c.Settle()
		c.RemovePod(c.PodNames()[0])
		c.Edit(`{"spec":{"replicas":0,"scaleStrategy":{"disablePVCReuse":true}}}`)
		want := []string{"1 delete persistentvolumeclaims", "1 get pods", "1 patch clonesets/status"}
		if diff := cmp.Diff(want, c.MustPass()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		if claims := c.claims(); len(claims) > 0 {
			t.Errorf("claims %q", claims)
		}
	})
}
