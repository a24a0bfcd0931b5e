// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestScripts plays what happens to a ResourceDistribution of the Secret pull, each file in a cluster of its own. Shown are the writes
// of the controller, events, the copies, the status, and what holds it up. To accept a change of behaviour, run the test with -rewrite
// and read the difference.
//
//	namespaces a b         creates namespaces, and with a:x one that has the label group=x; "many" creates ns-0 to ns-999
//	distribute             creates it, with the targets that follow
//	distribute-source      creates it with the source base/registry, and the targets that follow
//	edit                   changes it by the merge patch that follows
//	own ns                 creates a Secret of the name that is a user's
//	made ns                creates one as OpenKruise has made it
//	spoil ns               changes the data of a copy
//	patch ns NAME          changes a Secret by the merge patch that follows
//	source VALUE           creates the source, without the label that sources have
//	remove ns [NAME]       deletes the Secret of the name
//	refuse REQUEST [ns]    has the API server refuse a request of the controller, such as create-secrets, in one namespace or all
//	terminating REQUEST    has it say that the namespace terminates
//	meanwhile REQUEST ns   changes the Secret of the namespace by the merge patch that follows while the first such request is under way
//	heal                   has it serve them again
//	wait 30s               lets time pass
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		sources := func(o *Options) { o.Features.Sources = strings.Contains(path, "/source") }
		in(t, nil, func(t *testing.T, c *fixture.Cluster) {
			there := false
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				c.ForgetRequests()
				c.Events.Forget()
				play(t, c, d)
				lines := append(c.Sent(), c.Events.All()...)
				if all := copies(c, "pull"); len(all) > 9 {
					lines = append(lines, fmt.Sprint(len(all), " copies"))
				} else {
					lines = append(lines, all...)
				}
				if there = there || strings.HasPrefix(d.Cmd, "distribute"); there {
					lines = append(lines, "status "+status(c))
					for _, condition := range distributed(c, "pull").Status.Conditions {
						if condition.Type == v1alpha1.ResourceDistributionHeldUp && condition.Reason != "" {
							lines = append(lines, fmt.Sprintf("held up since %s: %s", condition.LastTransitionTime.UTC().Format(time.TimeOnly), condition.Reason))
						}
					}
				}
				if len(lines) == 0 {
					return "nothing\n"
				}
				return strings.Join(lines, "\n") + "\n"
			})
		}, sources)
	})
}

// play does what a line of a script says.
func play(t *testing.T, c *fixture.Cluster, d *datadriven.TestData) {
	t.Helper()
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.Key)
	}
	switch d.Cmd {
	case "namespaces":
		if args[0] == "many" {
			args = nil
			for i := range 1000 {
				args = append(args, fmt.Sprint("ns-", i))
			}
		}
		createNamespaces(c, args...)
	case "distribute":
		create(c, d.Input)
	case "distribute-source":
		sourced := newSourced(t, shellYAML)
		c.Must(yaml.UnmarshalStrict([]byte(d.Input), &sourced.Spec.Targets))
		c.Create(sourced, `{"metadata":{"uid":null,"generation":null}}`)
	case "edit":
		c.EditNamed("pull", d.Input)
	case "refuse", "terminating":
		refuse(c, d.Cmd, strings.ReplaceAll(args[0], "-", " "), strings.Join(args[1:], ""))
	case "meanwhile":
		request, patch, once := strings.ReplaceAll(args[0], "-", " "), d.Input, false
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && !r.DryRun && r.String() == request && !once {
				once = true
				changeSecret(t, c, "patch", args[1:], patch)
			}
			return nil
		})
	case "heal":
		c.FailBefore(nil)
	case "wait":
		c.Sleep(args[0])
	default:
		changeSecret(t, c, d.Cmd, args, d.Input)
	}
	if d.Cmd != "wait" {
		c.Sleep("2s")
	}
}

// changeSecret changes a Secret.
func changeSecret(t *testing.T, c *fixture.Cluster, command string, args []string, patch string) {
	t.Helper()
	namespace, secret := strings.Join(args, ""), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "pull"}, Data: map[string][]byte{"key": []byte("mine")}}
	name := "pull"
	if len(args) > 1 {
		namespace, name = args[0], args[1]
	}
	secrets := c.Kube.CoreV1().Secrets(namespace)
	var err error
	switch command {
	case "own":
		_, err = secrets.Create(t.Context(), secret, metav1.CreateOptions{})
	case "made":
		secret.Labels, secret.Type = map[string]string{"team": "a"}, corev1.SecretTypeOpaque
		secret.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: Kind, Name: "pull", UID: "former", Controller: new(true)}}
		_, err = secrets.Create(t.Context(), secret, metav1.CreateOptions{})
	case "source":
		source := sourceOf(args[0])
		source.Labels = nil
		_, err = c.Kube.CoreV1().Secrets("base").Create(t.Context(), source, metav1.CreateOptions{})
	case "patch", "spoil":
		data := []byte(cmp.Or(patch, `{"data":{"key":"Zm91bA=="}}`))
		_, err = secrets.Patch(t.Context(), name, types.MergePatchType, data, metav1.PatchOptions{})
	case "remove":
		err = secrets.Delete(t.Context(), name, metav1.DeleteOptions{})
	default:
		t.Fatalf("unknown command %s", command)
	}
	c.Must(err)
}

// refuse has the API server refuse a request of the controller.
func refuse(c *fixture.Cluster, how, request, namespace string) {
	err := apierrors.NewForbidden(corev1.Resource("secrets"), "pull", errors.New("exceeded quota"))
	if how == "terminating" {
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	}
	c.FailBefore(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && r.String() == request && (namespace == "" || r.Namespace == namespace) {
			return err
		}
		return nil
	})
}
