// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/kubernetes/pkg/apis/core/v1"
	"sigs.k8s.io/randfill"

	"github.com/podwright/podwright/internal/podtemplate"
)

// TestPodTemplateParity compares our defaults with upstream's, byte by byte as
// they are sent, on random templates that reach every field.
func TestPodTemplateParity(t *testing.T) {
	for seed := range int64(3000) {
		in := &corev1.PodTemplateSpec{}
		fill(seed, in)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { compareTemplate(t, in) })
	}
}

// TestPodTemplateParityOfSmallTemplates does the same with the templates that
// people write, which leave nearly everything open.
func TestPodTemplateParityOfSmallTemplates(t *testing.T) {
	for name, text := range smallTemplates {
		in := &corev1.PodTemplateSpec{}
		if err := json.Unmarshal([]byte(text), in); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { compareTemplate(t, in) })
	}
}

// TestClaimParity does the same for claim templates.
func TestClaimParity(t *testing.T) {
	for seed := range int64(500) {
		in := &corev1.PersistentVolumeClaim{}
		fill(seed, in)
		want, got := in.DeepCopy(), in.DeepCopy()
		upstream.SetObjectDefaults_PersistentVolumeClaim(want)
		want.Status.AllocatedResources = in.DeepCopy().Status.AllocatedResources // newer than 1.22
		podtemplate.DefaultClaim(got)
		compareJSON(t, want, got)
	}
}

func compareTemplate(t *testing.T, in *corev1.PodTemplateSpec) {
	want := &corev1.PodTemplate{Template: *in.DeepCopy()}
	upstream.SetObjectDefaults_PodTemplate(want)
	applyDifferences(in.DeepCopy(), &want.Template)
	got := in.DeepCopy()
	podtemplate.Default(got)
	compareJSON(t, &want.Template, got)
}

// applyDifferences turns the defaults of upstream into ours. It is the
// complete list of the differences.
func applyDifferences(in, out *corev1.PodTemplateSpec) {
	// Containers are pulled always.
	for i, c := range in.Spec.Containers {
		if c.ImagePullPolicy == "" {
			out.Spec.Containers[i].ImagePullPolicy = corev1.PullAlways
		}
	}
	// Before 1.28 a template on the host's network got its host ports.
	if in.Spec.HostNetwork {
		defaultHostPorts(out.Spec.Containers)
		defaultHostPorts(out.Spec.InitContainers)
	}
	// Upstream keeps the two names of the service account in step.
	out.Spec.ServiceAccountName = in.Spec.ServiceAccountName
	out.Spec.DeprecatedServiceAccount = in.Spec.DeprecatedServiceAccount
	// Fields that 1.22 did not have.
	out.Spec.Resources = in.Spec.Resources
	for i, v := range in.Spec.Volumes {
		if v.Image != nil {
			out.Spec.Volumes[i].Image = v.Image
		}
	}
	restoreFileKeyRefs(envs(in), envs(out))
}

func defaultHostPorts(containers []corev1.Container) {
	for _, c := range containers {
		for i := range c.Ports {
			if c.Ports[i].HostPort == 0 {
				c.Ports[i].HostPort = c.Ports[i].ContainerPort
			}
		}
	}
}

func envs(t *corev1.PodTemplateSpec) (all [][]corev1.EnvVar) {
	for _, c := range t.Spec.InitContainers {
		all = append(all, c.Env)
	}
	for _, c := range t.Spec.Containers {
		all = append(all, c.Env)
	}
	for _, c := range t.Spec.EphemeralContainers {
		all = append(all, c.Env)
	}
	return all
}

func restoreFileKeyRefs(in, out [][]corev1.EnvVar) {
	for i := range in {
		for j, e := range in[i] {
			if e.ValueFrom != nil {
				out[i][j].ValueFrom.FileKeyRef = e.ValueFrom.FileKeyRef
			}
		}
	}
}

func compareJSON(t *testing.T, want, got any) {
	t.Helper()
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(w) != string(g) {
		t.Errorf("defaults differ from upstream (-upstream +podwright):\n%s", cmp.Diff(want, got))
	}
}

// fill fills into with random values; the same seed gives the same values.
func fill(seed int64, into any) {
	random := rand.New(rand.NewSource(seed))
	randfill.NewWithSeed(seed).NilChance(0.4).NumElements(0, 2).MaxDepth(16).Funcs(
		func(q *resource.Quantity, c randfill.Continue) { *q = resource.MustParse(pick(random, quantities)) },
		func(m *metav1.ObjectMeta, c randfill.Continue) {}, // it has no defaults
		// Half of the texts and numbers are left open: those are the ones to default.
		func(s *string, c randfill.Continue) { *s = pick(random, []string{"", "text"}) },
		func(n *int32, c randfill.Continue) { *n = pick(random, []int32{0, 8080}) },
		func(b *bool, c randfill.Continue) { *b = pick(random, []bool{false, true}) },
		func(p *corev1.PullPolicy, c randfill.Continue) {
			*p = pick(random, []corev1.PullPolicy{"", "", corev1.PullNever})
		},
		func(v *corev1.Container, c randfill.Continue) {
			c.FillNoCustom(v)
			v.Image = pick(random, imageNames)
		},
		func(v *corev1.EphemeralContainerCommon, c randfill.Continue) {
			c.FillNoCustom(v)
			v.Image = pick(random, imageNames)
		},
		func(v *corev1.VolumeSource, c randfill.Continue) {
			if c.Bool() { // and sometimes no source at all
				c.FillNoCustom(v)
			}
		},
	).Fill(into)
}

func pick[T any](random *rand.Rand, values []T) T { return values[random.Intn(len(values))] }

var quantities = []string{"0", "1", "100m", "1500u", "1n", "0.0001", "1Gi", "1e3", "-2500u", "123456789012345678901234567890n"}

var imageNames = []string{
	"", "nginx", "nginx:latest", "nginx:1.21", "nginx:latests", "library/nginx", "localhost:5000/nginx", "localhost:5000/nginx:latest",
	"registry.example.com:443/team/app:v1", "registry.example.com/latest", "registry.example.com/latest:1",
	"nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"nginx:latest@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"localhost:5000/nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
}

var smallTemplates = map[string]string{
	"empty":         `{}`,
	"one container": `{"metadata":{"labels":{"app":"demo"}},"spec":{"containers":[{"name":"main","image":"nginx:1.21"}]}}`,
	"sidecar": `{"spec":{"containers":[{"name":"main","image":"nginx"}],
		"initContainers":[{"name":"log","image":"fluentd:1","restartPolicy":"Always","startupProbe":{"exec":{"command":["true"]}}}]}}`,
	"host network": `{"spec":{"hostNetwork":true,"containers":[{"name":"main","image":"nginx","ports":[{"containerPort":80},{"containerPort":81,"hostPort":82}]}],
		"initContainers":[{"name":"init","image":"nginx:1","ports":[{"containerPort":83,"protocol":"UDP"}]}]}}`,
	"probes": `{"spec":{"containers":[{"name":"main","image":"nginx",
		"livenessProbe":{"httpGet":{"port":80}},"readinessProbe":{"grpc":{"port":80}},"startupProbe":{"tcpSocket":{"port":"http"},"periodSeconds":1},
		"lifecycle":{"preStop":{"httpGet":{"port":80,"path":"/stop","scheme":"HTTPS"}},"postStart":{"exec":{"command":["true"]}}}}]}}`,
	"env": `{"spec":{"containers":[{"name":"main","image":"nginx","env":[{"name":"A","value":"a"},
		{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},{"name":"C","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"p","key":"k"}}}]}]}}`,
	"resources": `{"spec":{"overhead":{"cpu":"1500u"},"resources":{"limits":{"cpu":"1500u"}},"containers":[{"name":"main","image":"nginx",
		"resources":{"limits":{"cpu":"0.0001","memory":"1Gi"},"requests":{"cpu":"0.5"}}}]}}`,
	"volumes": `{"spec":{"volumes":[{"name":"empty"},{"name":"host","hostPath":{"path":"/"}},{"name":"secret","secret":{"secretName":"s"}},
		{"name":"config","configMap":{"name":"c","defaultMode":256}},{"name":"image","image":{"reference":"nginx:1"}},
		{"name":"token","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},{"downwardAPI":{"items":[{"path":"p","fieldRef":{"fieldPath":"metadata.name"}}]}}]}},
		{"name":"downward","downwardAPI":{"items":[{"path":"p","fieldRef":{"fieldPath":"metadata.name"}}]}},
		{"name":"ephemeral","ephemeral":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"1500u"}}}}}},
		{"name":"rbd","rbd":{"image":"i","monitors":["m"]}},{"name":"iscsi","iscsi":{"targetPortal":"t","iqn":"i"}},
		{"name":"azure","azureDisk":{"diskName":"d","diskURI":"u"}},{"name":"scaleio","scaleIO":{"gateway":"g"}}]}}`,
	"service account": `{"spec":{"serviceAccountName":"robot","containers":[{"name":"main","image":"nginx"}]}}`,
}
