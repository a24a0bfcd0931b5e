// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// IMG-3.9: the secrets of an image, which its tasks share, are used for those alone
// whose owners they are of.
func TestStorySecretsOfOwners(t *testing.T) {
	const image = "quay.io/web"
	for name, test := range map[string]struct {
		owners []string
		asked  string
	}{
		"its own":             {[]string{"bank"}, "bank"},
		"not those of others": {[]string{"evil"}, "evil"},
		"none":                {[]string{"poor"}, ""},
		"of all owners":       {[]string{"evil", "bank"}, "bank evil"},
		"nobody owns it":      {nil, "bank evil unmarked"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.addCopy("bank", "registry", "quay.io", "bank")
				n.addCopy("evil", "registry", "quay.io", "evil")
				n.createSecret(&corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.DaemonConfigNamespace, Name: "unmarked"},
					Data:       map[string][]byte{corev1.DockerConfigJsonKey: dockerConfig("quay.io", "unmarked")},
				})
				asked := n.guarded("nobody")
				n.start()
				n.Sleep(10 * time.Second)
				n.Want("asked as", strings.Split(test.asked, " "), *asked)
			}, wants(image, "1", backoffLimit(0), ownedBy(test.owners...)), byOf("bank", image, "registry"), byOf("evil", image, "registry"),
				refersTo(image, v1alpha1.DaemonConfigNamespace, "unmarked"))
		})
	}
}

// inMode gives all references a mode, which changes no pull. (IMG-1.16)
func inMode(image, mode string) change {
	return func(n *v1alpha1.NodeImage) {
		for i := range n.Spec.Images[image].PullSecrets {
			n.Spec.Images[image].PullSecrets[i].Mode = mode
		}
	}
}

func refersTo(image, namespace, name string) change {
	return func(n *v1alpha1.NodeImage) {
		of := n.Spec.Images[image]
		of.PullSecrets = append(of.PullSecrets, v1alpha1.ReferenceObject{Namespace: namespace, Name: name})
		n.Spec.Images[image] = of
	}
}

// IMG-3.9: a copy says itself whose it is, whatever its name. So the agent uses copies of
// other managers, and a name that lies does not help.
func TestStoryCopiesOfOtherNames(t *testing.T) {
	const image = "quay.io/web"
	play(t, func(n *node) {
		for name, source := range map[string]string{"random-x7k2p": "bank/registry", copyOf("evil", "mine").Name: "bank/other"} {
			n.createSecret(&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.DaemonConfigNamespace, Name: name, Annotations: map[string]string{v1alpha1.PullSecretSourceAnnotation: source}},
				Data:       map[string][]byte{corev1.DockerConfigJsonKey: dockerConfig("quay.io", source)},
			})
		}
		asked := n.guarded("nobody")
		n.start()
		n.Sleep(10 * time.Second)
		n.Want("asked as both of bank, and anonymously for evil", []string{"", "bank/other", "bank/registry"}, sorted(*asked))
	}, wants(image, "1", backoffLimit(0), ownedBy("bank"), createdAgo(time.Hour)), wants(image, "2", backoffLimit(0), ownedBy("evil")),
		refersTo(image, v1alpha1.DaemonConfigNamespace, "random-x7k2p"), byOf("evil", image, "mine"), inMode(image, v1alpha1.PullSecretModeBatch))
}

// IMG-3.11: secrets of other namespaces are not asked for, unless that is an option; and
// then those of the owners.
func TestStorySourceSecrets(t *testing.T) {
	const image = "quay.io/web"
	for _, everywhere := range []bool{false, true} {
		play(t, func(n *node) {
			n.options.ReadSourceSecrets = everywhere
			for _, namespace := range []string{"bank", "evil"} {
				n.createSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "registry"},
					Data: map[string][]byte{corev1.DockerConfigJsonKey: dockerConfig("quay.io", namespace)}})
			}
			asked := n.guarded("bank")
			n.start()
			n.Sleep(10 * time.Second)
			if everywhere {
				n.Want("with the option", []string{"bank"}, *asked)
				n.Want("of the owner", []string{"1 get secrets", "2 patch nodeimages/status"}, n.Sent(n.user()))
				return
			}
			n.Want("without", []string{""}, *asked)
			n.Want("nothing is asked for", []string{"2 patch nodeimages/status"}, n.Sent(n.user()))
			if message := n.nodeImage().Status.ImageStatuses[image].Tags[0].Message; !strings.Contains(message, "secret bank/registry was left out: it is not in namespace kruise-daemon-config") || strings.Contains(message, "evil") {
				n.Errorf("message %q", message)
			}
		}, wants(image, "1", backoffLimit(0), ownedBy("bank")), refersTo(image, "bank", "registry"), refersTo(image, "evil", "registry"))
	}
}

// IMG-3.8, IMG-3.9: events of one owner do not have what a registry answers to the
// credentials of another, or the names of its secrets. No password is anywhere.
func TestStoryEventsOfOwners(t *testing.T) {
	const image = "quay.io/web"
	play(t, func(n *node) {
		n.addCopy("bank", "registry", "quay.io", "bank")
		n.runtime.Pull = func(_ context.Context, request *criv1.PullImageRequest) error {
			user := request.GetAuth().GetUsername()
			return errors.New(`Get "https://quay.io/v2/?account=` + user + `": user ` + user + ` is locked`)
		}
		n.start()
		n.Sleep(10 * time.Second)
		const registry = `container runtime unix:///run/test.sock: pull image quay.io/web:1: rpc error: code = Unknown desc = Get "https://quay.io/v2/": user bank is locked`
		all := registry + "\nsecret bank/missing was left out: it does not exist"
		const begin = "Warning PullImageFailed: Image quay.io/web:1, "
		n.Want("events", []string{
			begin + all, begin + all + " on node node-1",
			begin + "the image cannot be pulled with the secrets of other namespaces that ask for it, and this one has none for it on node node-1",
		}, n.events.All())
	}, wants(image, "1", backoffLimit(0), ownedBy("bank", "evil")), byOf("bank", image, "registry", "missing"))
}

// clouds gives credentials for one registry.
type clouds struct{ asked []string }

func (c *clouds) Credentials(_ context.Context, image string) ([]*criv1.AuthConfig, error) {
	c.asked = append(c.asked, image)
	if strings.HasPrefix(image, "cloud.example/") {
		return []*criv1.AuthConfig{{Username: "node", Password: "token"}, nil}, nil
	}
	return nil, errors.New("no metadata server")
}

// IMG-3.12: the node's own credentials are asked for last, at every attempt; if they
// are not known the attempt goes on without.
func TestStoryCredentialsOfTheNode(t *testing.T) {
	play(t, func(n *node) {
		c := &clouds{}
		n.options.Credentials = c
		n.addSecret("one", "cloud.example", "one")
		asked := n.guarded("node")
		n.start()
		n.Sleep(10 * time.Second)
		n.Want("in turn", []string{"one", "node"}, *asked)
		n.edit(wants("nginx", "1", backoffLimit(0)))
		n.Sleep(10 * time.Second)
		n.Want("and without", []string{"one", "node", ""}, *asked)
		n.Want("asked for", []string{"cloud.example/web:1", "docker.io/library/nginx:1"}, c.asked)
		n.expect("results", "cloud.example/web:1 v1 Succeeded 100% cloud.example/web@sha256:cloud.example/web:1",
			"nginx:1 v1 Failed 0% (container runtime unix:///run/test.sock: pull image nginx:1: rpc error: code = Unknown desc = unauthorized: \nno metadata server)")
	}, wants("cloud.example/web", "1"), by("cloud.example/web", "one"))
}
