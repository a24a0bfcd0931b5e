// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
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

func (c *cluster) expectCopies(what string, want ...string) {
	c.Helper()
	if diff := cmp.Diff(append([]string{}, want...), c.copies()); diff != "" {
		c.Errorf("%s: copies (-want +got):\n%s", what, diff)
	}
}

// IMG-1.6: what cannot be copied gives the job a message, and its tasks all the same;
// and it is not asked for over and over.
func TestSecretsThatCannotBeCopied(t *testing.T) {
	refuse := func(namespace string, err error) func(fakecluster.Request) error {
		return func(r fakecluster.Request) error {
			if r.User == jobUser && r.Resource == "secrets" && r.Namespace == namespace && r.Verb != "list" && r.Verb != "watch" {
				return err
			}
			return nil
		}
	}
	forbidden := apierrors.NewForbidden(corev1.Resource("secrets"), "s", errors.New("no"))
	noNamespace := func(r fakecluster.Request) error {
		if r.Verb == "create" && r.Resource == "secrets" && r.User == jobUser {
			return apierrors.NewNotFound(corev1.Resource("namespaces"), r.Namespace)
		}
		return nil
	}
	for name, test := range map[string]struct {
		prepare func(*cluster)
		message string
	}{
		"missing":   {func(*cluster) {}, "it does not exist"},
		"Opaque":    {func(c *cluster) { c.addSecretOf(corev1.Secret{Type: corev1.SecretTypeOpaque}) }, "it is of type Opaque, want kubernetes.io/dockerconfigjson"},
		"forbidden": {func(c *cluster) { c.addSecret("s", "x"); c.FailBefore(refuse(namespace, forbidden)) }, "the manager may not read it"},
		"forbidden to copy": {func(c *cluster) {
			c.addSecret("s", "x")
			c.FailBefore(refuse(v1alpha1.DaemonConfigNamespace, forbidden))
		},
			"the manager may not copy it to namespace kruise-daemon-config"},
		"no namespace": {func(c *cluster) { c.addSecret("s", "x"); c.FailBefore(noNamespace) }, "namespace kruise-daemon-config, in which nodes find it, does not exist"},
		"refused": {func(c *cluster) {
			c.addSecret("s", "x")
			c.FailBefore(refuse(v1alpha1.DaemonConfigNamespace, apierrors.NewBadRequest("a policy of yours")))
		},
			"its copy in namespace kruise-daemon-config is refused: a policy of yours"},
		"a copy of another one": {func(c *cluster) {
			c.addSecretOf(corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.PullSecretSourceAnnotation: "bank/s"}}, Type: corev1.SecretTypeDockerConfigJson})
		}, "it says to be a copy of another one"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, c *cluster) {
				c.begin(1)
				test.prepare(c)
				c.addJob("pull", "pullSecrets: [s]\ncompletionPolicy: {type: Never}")
				c.Sleep(time.Second)
				c.agents(always(v1alpha1.ImagePhasePulling))
				c.ForgetRequests()
				c.Sleep(20 * time.Minute)
				c.expectMessage("pull", "job is running, progress 0.0%; pull secret s is left out: "+test.message)
				c.expectTasks("without the secret", "n0000 nginx:1 v1 pull")
				c.expectCopies("none")
				if asked := c.Count(jobUser)["get secrets"] + c.Count(jobUser)["create secrets"]; asked > 3*11 {
					t.Errorf("%d requests in 20 minutes", asked)
				}
				c.FailBefore(nil)
			})
		})
	}
}

func (c *cluster) addSecretOf(secret corev1.Secret) {
	c.Helper()
	secret.Name, secret.Data = "s", map[string][]byte{corev1.DockerConfigJsonKey: []byte("{}")}
	_, err := c.kube.CoreV1().Secrets(namespace).Create(c.Context(), &secret, metav1.CreateOptions{})
	c.Must(err)
}

// IMG-1.6: whatever answer is lost, and whatever other clients write at the same time, the copies
// come and go.
func TestCopiesAmidFaults(t *testing.T) {
	for _, what := range []string{"create secrets", "update secrets", "delete secrets", "get secrets"} {
		for kind, err := range map[string]error{"lost": fixture.ErrLost, "refused": fixture.ErrInternal, "conflict": apierrors.NewConflict(corev1.Resource("secrets"), "s", errors.New("no"))} {
			t.Run(what+" "+kind, func(t *testing.T) {
				play(t, func(t *testing.T, c *cluster) {
					c.begin(1)
					c.addSecret("s", "one")
					var happened atomic.Int32
					fail := failing(jobUser, what, 2, err)
					count := func(r fakecluster.Request) error {
						err := fail(r)
						if err != nil {
							happened.Add(1)
						}
						return err
					}
					if kind == "lost" {
						c.FailAfter(count)
					} else {
						c.FailBefore(count)
					}
					for _, name := range []string{"a", "b", "c"} {
						c.addJob(name, "pullSecrets: [s]\ncompletionPolicy: {type: Never}")
					}
					c.Sleep(time.Minute)
					c.expectCopies("there", "default/s: .dockerconfigjson one, for default/a,default/b,default/c")
					for _, name := range []string{"a", "b", "c"} {
						c.deleteJob(name)
					}
					c.Sleep(time.Minute)
					c.expectCopies("gone")
					if happened.Load() == 0 {
						t.Error("nothing happened")
					}
				})
			})
		}
	}
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
				c.expectCopies("its own manager", copied)

				restrict.to(c)
				own, err := imagepulljob.New(c.jobOptions)
				c.Must(err)
				c.Go(own.Run)
				c.Sleep(time.Minute)
				c.expectCopies("a manager of another namespace has started", copied)
				for request, n := range c.Count(jobUser) {
					if n > 1 && strings.HasSuffix(request, " secrets") && request != "watch secrets" && request != "list secrets" {
						c.Errorf("it has sent %d times %s", n, request)
					}
				}
				c.Must(jobs.Delete(t.Context(), "pull", metav1.DeleteOptions{}))
				c.Sleep(time.Minute)
				c.expectCopies("the job is deleted")
			})
		})
	}
}
