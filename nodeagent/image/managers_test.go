// SPDX-License-Identifier: Apache-2.0

package image

import (
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// asked reads what a manager asks of a node, as it was written down.
func asked(t *testing.T, file string) change {
	t.Helper()
	text, err := os.ReadFile("testdata/managers/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return func(n *v1alpha1.NodeImage) {
		said := strings.ReplaceAll(string(text), "NOW", time.Now().UTC().Format(time.RFC3339))
		if err := yaml.UnmarshalStrict([]byte(said), &n.Spec); err != nil {
			t.Fatal(err)
		}
	}
}

// podwright's agent runs beside managers of OpenKruise. It pulls what they ask for, with their secrets. It tells of that in two
// writes of the status, of which their controllers count the second. (IMG-1.14, IMG-1.16, IMG-3.4, IMG-3.11)
func TestManagersOfOpenKruise(t *testing.T) {
	const hub = "https://index.docker.io/v1/"
	for name, test := range map[string]struct {
		file        string
		has, source bool // the image is on the node; the agent reads secrets of other namespaces
		user        string
		pulls, sent []string
	}{
		"IMG-3.11: 1.5.0 names the secret of the job, which is read": {"1.5.yaml", false, true, "source", []string{"nginx:1"}, []string{"1 get secrets", "2 patch nodeimages/status"}},
		"IMG-3.11: or not, unless the agent is to":                   {"1.5.yaml", false, false, "", []string{"nginx:1"}, []string{"2 patch nodeimages/status"}},
		"IMG-3.11: 1.6 to 1.8 have copies":                           {"1.6.yaml", false, false, "copy", []string{"nginx:1"}, []string{"1 get secrets", "2 patch nodeimages/status"}},
		"IMG-1.14: an image that is there is not pulled":             {"1.6.yaml", true, false, "", nil, []string{"1 patch nodeimages/status"}},
		"IMG-1.16: 1.9 has copies of a mode, and owners of v1beta1":  {"1.9.yaml", false, false, "copy", []string{"nginx:1"}, []string{"1 get secrets", "2 patch nodeimages/status"}},
		"IMG-1.14: an image that is there is pulled if it is to be":  {"1.9.yaml", true, false, "copy", []string{"nginx:1"}, []string{"1 get secrets", "2 patch nodeimages/status"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.options.ReadSourceSecrets = test.source
				for _, secret := range []*corev1.Secret{
					{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "registry"}, Data: map[string][]byte{corev1.DockerConfigJsonKey: dockerConfig(hub, "source")}},
					{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.DaemonConfigNamespace, Name: "registry-x7k2p", Annotations: map[string]string{v1alpha1.PullSecretSourceAnnotation: "shop/registry"}},
						Data: map[string][]byte{corev1.DockerConfigJsonKey: dockerConfig(hub, "copy")}},
				} {
					n.createSecret(secret)
				}
				if test.has {
					n.runtime.AddImage(onNode("sha256:old", "docker.io/library/nginx:1"))
				}
				users := n.guarded(test.user)
				n.start()
				n.Sleep(10 * time.Second)
				n.Want("pulls", test.pulls, n.pulls())
				if len(test.pulls) > 0 {
					n.Want("asked as", []string{test.user}, *users)
				}
				n.Want("requests", test.sent, n.Sent(n.user()))
				status := n.nodeImage().Status
				if tag := status.ImageStatuses["nginx"].Tags[0]; status.Succeeded != 1 || tag.Phase != v1alpha1.ImagePhaseSucceeded || tag.Version != 1 || tag.CompletionTime == nil {
					t.Errorf("status %+v", status)
				}
			}, asked(t, test.file))
		})
	}
}
