// SPDX-License-Identifier: Apache-2.0

package image

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// A cluster in which OpenKruise 1.9 has run: its jobs have a finalizer, and its copies of pull secrets no label.
func TestTakeOverOfJobsWithAFinalizer(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(1)
		c.addSecret("s", "one")
		for _, name := range []string{"over", "going", "runs"} {
			c.addJob(name, "pullSecrets: [s]\ncompletionPolicy: {type: Always}")
			c.bind(name)
		}
		c.addForeignCopy("s-x7k2p", "default/over,default/going")
		c.addForeignCopy("s-q9z4m", "default/runs")
		c.deleteJob("going")
		if _, err := c.jobs.Get(t.Context(), "going", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("IMG-1.15: the job hangs: %v", err)
		}
		c.agents(always(succeeded))
		c.pause(time.Minute)
		for _, name := range []string{"over", "runs"} { // both are over by now
			if job := c.job(name); job.Status.CompletionTime == nil || len(job.Finalizers) != 1 || job.Finalizers[0] != "team/own" {
				t.Errorf("IMG-1.15: job %s has the finalizers %v, completion %v", name, job.Finalizers, job.Status.CompletionTime)
			}
		}
		if left := c.copies(); len(left) > 0 {
			t.Errorf("IMG-1.15: copies are left: %v", left)
		}
	})
}

// A job that goes on keeps the finalizer: the manager that it is of may come back.
func TestFinalizerOfAJobThatGoesOn(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(1)
		c.addJob("runs", "completionPolicy: {type: Never}")
		c.bind("runs")
		c.pause(time.Minute)
		if job := c.job("runs"); len(job.Finalizers) != 2 {
			t.Errorf("IMG-1.15: finalizers %v", job.Finalizers)
		}
	})
}

// bind gives a job the finalizer of OpenKruise, beside one of a user.
func (c *cluster) bind(name string) {
	c.Helper()
	patch := []byte(`{"metadata":{"finalizers":["` + v1alpha1.ImagePullJobFinalizer + `","team/own"]}}`)
	if name == "going" {
		patch = []byte(`{"metadata":{"finalizers":["` + v1alpha1.ImagePullJobFinalizer + `"]}}`)
	}
	_, err := c.jobs.Patch(c.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	c.must(err)
}

// addForeignCopy adds a copy of the secret s as OpenKruise 1.9 leaves it.
func (c *cluster) addForeignCopy(name, references string) {
	c.Helper()
	_, err := c.kube.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace).Create(c.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
			v1alpha1.PullSecretSourceAnnotation: namespace + "/s", v1alpha1.PullSecretReferencesAnnotation: references, "imagepulljobs.kruise.io/mode": "batch"}},
		Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("one")},
	}, metav1.CreateOptions{})
	c.must(err)
}
