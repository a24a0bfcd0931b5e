// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// copyName is the name of the copy of a secret.
func copyName(name string) string {
	copied, _ := images.CopyName(types.NamespacedName{Namespace: namespace, Name: name})
	return copied
}

// addSecret adds a secret with credentials, in whose place stands a word.
func (c *cluster) addSecret(name, word string) {
	c.Helper()
	_, err := c.kube.CoreV1().Secrets(namespace).Create(c.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(word)},
	}, metav1.CreateOptions{})
	c.Must(err)
	synctest.Wait()
}

// copies shows the secrets in the namespace of the agents, as "source: content, for jobs".
func (c *cluster) copies() []string {
	c.Helper()
	list, err := c.kube.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace).List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	out := []string{}
	for _, s := range list.Items {
		var content []string
		for key, data := range s.Data {
			content = append(content, key+" "+string(data))
		}
		out = append(out, fmt.Sprintf("%s: %s, for %s", s.Annotations["imagepulljobs.kruise.io/source-key"], strings.Join(content, " "), s.Annotations["imagepulljobs.kruise.io/references"]))
	}
	slices.Sort(out)
	return out
}

// IMG-1.6: a manager of one namespace leaves alone the copies that jobs of others need. A manager whose shared informer
// leaves jobs out does so, too.
func TestOtherManagersKeepTheirCopies(t *testing.T) {
	for _, restrict := range []struct {
		name string
		to   func(*cluster)
	}{
		{"a manager of one namespace", func(c *cluster) { c.jobOptions.Namespace = namespace }},
		{"a shared informer of one namespace", func(c *cluster) {
			c.jobOptions.ImagePullJobs = client.NewImagePullJobInformer(c.distribution("caches"), namespace, 0, cache.Indexers{})
			c.Go(func(ctx context.Context) error { c.jobOptions.ImagePullJobs.RunWithContext(ctx); return nil })
		}},
	} {
		t.Run(restrict.name, func(t *testing.T) {
			play(t, func(t *testing.T, c *cluster) {
				c.startNodes()
				c.addNodes(1)
				c.Sleep(40 * time.Second)
				jobs := c.distribution(testUser).ImagePullJobs("team-b")
				_, err := jobs.Create(t.Context(), &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "pull"},
					Spec: v1alpha1.ImagePullJobSpec{Image: "nginx:1", PullSecrets: []string{"s"},
						CompletionPolicy: v1alpha1.CompletionPolicy{Type: v1alpha1.Never}}}, metav1.CreateOptions{})
				c.Must(err)
				_, err = c.kube.CoreV1().Secrets("team-b").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"},
					Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("b")}}, metav1.CreateOptions{})
				c.Must(err)
				other, err := imagepulljob.New(imagepulljob.Options{Distribution: c.distribution("b"), Kubernetes: c.Kubernetes("b"), ControllerOptions: podwright.ControllerOptions{Namespace: "team-b"}})
				c.Must(err)
				c.Go(other.Run)
				c.Sleep(40 * time.Second)
				const copied = "team-b/s: .dockerconfigjson b, for team-b/pull"
				c.Want("its own manager", []string{copied}, c.copies())

				restrict.to(c)
				own, err := imagepulljob.New(c.jobOptions)
				c.Must(err)
				c.Go(own.Run)
				c.Sleep(time.Minute)
				c.Want("a manager of another namespace has started", []string{copied}, c.copies())
				for request, n := range c.Count(jobUser) {
					if n > 1 && strings.HasSuffix(request, " secrets") && request != "watch secrets" && request != "list secrets" {
						c.Errorf("it has sent %d times %s", n, request)
					}
				}
				c.Must(jobs.Delete(t.Context(), "pull", metav1.DeleteOptions{}))
				c.Sleep(time.Minute)
				c.Want("the job is deleted", nil, c.copies())
			})
		})
	}
}
