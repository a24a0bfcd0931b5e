// SPDX-License-Identifier: Apache-2.0

package podtemplate_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/podtemplate"
)

// podDefaults is what a pod gets that leaves everything open.
const podDefaults = `"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler"`

// pod is a template with the given fields of its spec, and the pod's defaults.
func pod(fields string) string { return `{"metadata":{},"spec":{` + fields + `,` + podDefaults + `}}` }

// containerDefaults is what a container gets that leaves everything open.
const containerDefaults = `"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"`

// container is a template with one container, defaulted but for the given fields.
func container(fields string) string {
	return pod(`"containers":[{"name":"main","image":"a:1",` + fields + `,"imagePullPolicy":"Always",` + containerDefaults + `}]`)
}

func TestDefault(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"pod: everything open", `{}`, pod(`"containers":null`)},
		{"pod: what is set stays",
			`{"spec":{"containers":[],"restartPolicy":"Never","terminationGracePeriodSeconds":0,"dnsPolicy":"Default","securityContext":{"runAsUser":1},"schedulerName":"mine"}}`,
			`{"spec":{"containers":[],"restartPolicy":"Never","terminationGracePeriodSeconds":0,"dnsPolicy":"Default","securityContext":{"runAsUser":1},"schedulerName":"mine"}}`},
		{"pod: serviceAccount does not follow serviceAccountName", `{"spec":{"serviceAccountName":"robot"}}`, pod(`"containers":null,"serviceAccountName":"robot"`)},
		{"pod: overhead is rounded up to thousandths", `{"spec":{"overhead":{"cpu":"1500u"}}}`, pod(`"containers":null,"overhead":{"cpu":"2m"}`)},
		{"pod: resources of the pod are newer and stay", `{"spec":{"resources":{"limits":{"cpu":"1500u"}}}}`, pod(`"containers":null,"resources":{"limits":{"cpu":"1500u"}}`)},

		{"container: always pulled, whatever the tag", `{"spec":{"containers":[{"name":"main","image":"a:1","resources":{}}]}}`, container(`"resources":{}`)},
		{"container: a pull policy that is set stays", `{"spec":{"containers":[{"name":"main","image":"a","resources":{},"imagePullPolicy":"Never"}]}}`,
			pod(`"containers":[{"name":"main","image":"a","resources":{},"imagePullPolicy":"Never",` + containerDefaults + `}]`)},
		{"container: termination message that is set stays",
			`{"spec":{"containers":[{"name":"main","image":"a:1","terminationMessagePath":"/m","terminationMessagePolicy":"FallbackToLogsOnError"}]}}`,
			pod(`"containers":[{"name":"main","image":"a:1","resources":{},"imagePullPolicy":"Always","terminationMessagePath":"/m","terminationMessagePolicy":"FallbackToLogsOnError"}]`)},
		{"container: init by tag", `{"spec":{"initContainers":[{"name":"i","image":"a:1"},{"name":"j","image":"a"}]}}`,
			pod(`"containers":null,"initContainers":[{"name":"i","image":"a:1","resources":{},"imagePullPolicy":"IfNotPresent",` + containerDefaults +
				`},{"name":"j","image":"a","resources":{},"imagePullPolicy":"Always",` + containerDefaults + `}]`)},
		{"container: ephemeral by tag", `{"spec":{"ephemeralContainers":[{"name":"e","image":"a:1"}]}}`,
			pod(`"containers":null,"ephemeralContainers":[{"name":"e","image":"a:1","resources":{},"imagePullPolicy":"IfNotPresent",` + containerDefaults + `}]`)},
		{"container: resources are rounded up, nothing is requested for a limit",
			`{"spec":{"containers":[{"name":"main","image":"a:1","resources":{"limits":{"cpu":"0.0001","memory":"1Gi"}}}]}}`,
			container(`"resources":{"limits":{"cpu":"1m","memory":"1Gi"}}`)},
		{"container: restartPolicy and resizePolicy are newer and stay",
			`{"spec":{"containers":[{"name":"main","image":"a:1","restartPolicy":"Always","resizePolicy":[{"resourceName":"cpu","restartPolicy":""}]}]}}`,
			container(`"restartPolicy":"Always","resizePolicy":[{"resourceName":"cpu","restartPolicy":""}],"resources":{}`)},

		{"port: protocol", `{"spec":{"containers":[{"name":"main","image":"a:1","ports":[{"containerPort":80},{"containerPort":53,"protocol":"UDP"}]}]}}`,
			container(`"ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP"}],"resources":{}`)},
		{"port: host port on the host's network",
			`{"spec":{"hostNetwork":true,"containers":[{"name":"main","image":"a:1","ports":[{"containerPort":80},{"containerPort":81,"hostPort":82}]}]}}`,
			pod(`"hostNetwork":true,"containers":[{"name":"main","image":"a:1","ports":[{"containerPort":80,"hostPort":80,"protocol":"TCP"},{"containerPort":81,"hostPort":82,"protocol":"TCP"}],"resources":{},"imagePullPolicy":"Always",` + containerDefaults + `}]`)},

		{"env: field reference", `{"spec":{"containers":[{"name":"main","image":"a:1","env":[{"name":"A","value":"a"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}]}}`,
			container(`"env":[{"name":"A","value":"a"},{"name":"B","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],"resources":{}`)},
		{"env: file key reference is newer and stays",
			`{"spec":{"containers":[{"name":"main","image":"a:1","env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"p","key":"k"}}}]}]}}`,
			container(`"env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"p","key":"k"}}}],"resources":{}`)},

		{"probe: numbers", `{"spec":{"containers":[{"name":"main","image":"a:1","livenessProbe":{"exec":{}},"readinessProbe":{"exec":{},"periodSeconds":2},"startupProbe":{"exec":{},"failureThreshold":9}}]}}`,
			container(`"resources":{},"livenessProbe":{"exec":{},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},
				"readinessProbe":{"exec":{},"timeoutSeconds":1,"periodSeconds":2,"successThreshold":1,"failureThreshold":3},
				"startupProbe":{"exec":{},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":9}`)},
		{"probe: http", `{"spec":{"containers":[{"name":"main","image":"a:1","livenessProbe":{"httpGet":{"port":80},"timeoutSeconds":1,"periodSeconds":1,"successThreshold":1,"failureThreshold":1}}]}}`,
			container(`"resources":{},"livenessProbe":{"httpGet":{"path":"/","port":80,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":1,"successThreshold":1,"failureThreshold":1}`)},
		{"probe: grpc service", `{"spec":{"containers":[{"name":"main","image":"a:1","livenessProbe":{"grpc":{"port":80},"timeoutSeconds":1,"periodSeconds":1,"successThreshold":1,"failureThreshold":1}}]}}`,
			container(`"resources":{},"livenessProbe":{"grpc":{"port":80,"service":""},"timeoutSeconds":1,"periodSeconds":1,"successThreshold":1,"failureThreshold":1}`)},
		{"lifecycle: http", `{"spec":{"containers":[{"name":"main","image":"a:1","lifecycle":{"postStart":{"httpGet":{"port":80}},"preStop":{"httpGet":{"port":80,"path":"/x","scheme":"HTTPS"}}}}]}}`,
			container(`"resources":{},"lifecycle":{"postStart":{"httpGet":{"path":"/","port":80,"scheme":"HTTP"}},"preStop":{"httpGet":{"path":"/x","port":80,"scheme":"HTTPS"}}}`)},

		{"volume: no source is an empty directory", volumes(`{"name":"v"}`), defaultedVolumes(`{"name":"v","emptyDir":{}}`)},
		{"volume: host path", volumes(`{"name":"v","hostPath":{"path":"/"}}`), defaultedVolumes(`{"name":"v","hostPath":{"path":"/","type":""}}`)},
		{"volume: secret", volumes(`{"name":"v","secret":{"secretName":"s"}}`), defaultedVolumes(`{"name":"v","secret":{"secretName":"s","defaultMode":420}}`)},
		{"volume: config map", volumes(`{"name":"v","configMap":{"name":"c"}}`), defaultedVolumes(`{"name":"v","configMap":{"name":"c","defaultMode":420}}`)},
		{"volume: a mode that is set stays", volumes(`{"name":"v","configMap":{"name":"c","defaultMode":0}}`), defaultedVolumes(`{"name":"v","configMap":{"name":"c","defaultMode":0}}`)},
		{"volume: downward API", volumes(`{"name":"v","downwardAPI":{"items":[{"path":"p","fieldRef":{"fieldPath":"metadata.name"}}]}}`),
			defaultedVolumes(`{"name":"v","downwardAPI":{"items":[{"path":"p","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}],"defaultMode":420}}`)},
		{"volume: projected", volumes(`{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},{"downwardAPI":{"items":[{"path":"p","fieldRef":{"fieldPath":"metadata.name"}}]}},{"secret":{"name":"s"}}]}}`),
			defaultedVolumes(`{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":3600}},{"downwardAPI":{"items":[{"path":"p","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}]}},{"secret":{"name":"s"}}],"defaultMode":420}}`)},
		{"volume: iscsi", volumes(`{"name":"v","iscsi":{"targetPortal":"t","iqn":"i","lun":0}}`), defaultedVolumes(`{"name":"v","iscsi":{"targetPortal":"t","iqn":"i","lun":0,"iscsiInterface":"default"}}`)},
		{"volume: rbd", volumes(`{"name":"v","rbd":{"monitors":["m"],"image":"i"}}`),
			defaultedVolumes(`{"name":"v","rbd":{"monitors":["m"],"image":"i","pool":"rbd","user":"admin","keyring":"/etc/ceph/keyring"}}`)},
		{"volume: azure disk", volumes(`{"name":"v","azureDisk":{"diskName":"d","diskURI":"u"}}`),
			defaultedVolumes(`{"name":"v","azureDisk":{"diskName":"d","diskURI":"u","cachingMode":"ReadWrite","fsType":"ext4","readOnly":false,"kind":"Shared"}}`)},
		{"volume: scaleIO", volumes(`{"name":"v","scaleIO":{"gateway":"g","system":"s","secretRef":null}}`),
			defaultedVolumes(`{"name":"v","scaleIO":{"gateway":"g","system":"s","secretRef":null,"storageMode":"ThinProvisioned","fsType":"xfs"}}`)},
		{"volume: ephemeral claim", volumes(`{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"1500u"}}}}}}`),
			defaultedVolumes(`{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"2m"}},"volumeMode":"Filesystem"}}}}`)},
		{"volume: image volumes are newer and stay", volumes(`{"name":"v","image":{"reference":"a"}}`), defaultedVolumes(`{"name":"v","image":{"reference":"a"}}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, want := decode[corev1.PodTemplateSpec](t, tt.in), decode[corev1.PodTemplateSpec](t, tt.want)
			podtemplate.Default(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Default (-want +got):\n%s", diff)
			}
			podtemplate.Default(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the second Default changes something (-want +got):\n%s", diff)
			}
		})
	}
}

func volumes(volume string) string { return `{"spec":{"volumes":[` + volume + `]}}` }

func defaultedVolumes(volume string) string {
	return pod(`"containers":null,"volumes":[` + volume + `]`)
}

func TestDefaultClaim(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"everything open", `{}`, `{"spec":{"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}`},
		{"what is set stays", `{"spec":{"volumeMode":"Block"},"status":{"phase":"Bound"}}`, `{"spec":{"volumeMode":"Block"},"status":{"phase":"Bound"}}`},
		{"quantities are rounded up to thousandths",
			`{"spec":{"resources":{"requests":{"storage":"1500u"},"limits":{"storage":"1Gi"}}},"status":{"capacity":{"storage":"1n"}}}`,
			`{"spec":{"resources":{"requests":{"storage":"2m"},"limits":{"storage":"1Gi"}},"volumeMode":"Filesystem"},"status":{"phase":"Pending","capacity":{"storage":"1m"}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := decode[corev1.PersistentVolumeClaim](t, tt.in)
			podtemplate.DefaultClaim(got)
			if diff := cmp.Diff(decode[corev1.PersistentVolumeClaim](t, tt.want), got); diff != "" {
				t.Errorf("DefaultClaim (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPullPolicyOfInitContainers(t *testing.T) {
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for image, want := range map[string]corev1.PullPolicy{
		"":                                 corev1.PullIfNotPresent,
		"nginx":                            corev1.PullAlways,
		"nginx:latest":                     corev1.PullAlways,
		"nginx:latest" + digest:            corev1.PullAlways,
		"localhost:5000/nginx":             corev1.PullAlways,
		"localhost:5000/nginx:latest":      corev1.PullAlways,
		"example.com/latest":               corev1.PullAlways,
		"nginx:1":                          corev1.PullIfNotPresent,
		"nginx:latest-1":                   corev1.PullIfNotPresent,
		"nginx" + digest:                   corev1.PullIfNotPresent,
		"nginx:1" + digest:                 corev1.PullIfNotPresent,
		"localhost:5000/nginx" + digest:    corev1.PullIfNotPresent,
		"example.com:443/latest/nginx:1.2": corev1.PullIfNotPresent,
	} {
		template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Image: image}}}}
		podtemplate.Default(template)
		if got := template.Spec.InitContainers[0].ImagePullPolicy; got != want {
			t.Errorf("%q: got %s, want %s", image, got, want)
		}
	}
}

func FuzzDefault(f *testing.F) {
	f.Add([]byte(`{"spec":{"containers":[{"name":"main","image":"a:1","livenessProbe":{"httpGet":{"port":80}}}],"volumes":[{"name":"v"}]}}`))
	f.Add([]byte(`{"spec":{"initContainers":[{"image":"@:/"}],"volumes":[{"projected":{"sources":[{}]}}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		once := &corev1.PodTemplateSpec{}
		if json.Unmarshal(data, once) != nil {
			return
		}
		podtemplate.Default(once)
		twice := once.DeepCopy()
		podtemplate.Default(twice)
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Errorf("the second Default changes something (-once +twice):\n%s", diff)
		}
	})
}

func BenchmarkDefault(b *testing.B) {
	open := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Volumes:    []corev1.Volume{{Name: "v"}},
		Containers: []corev1.Container{{Name: "main", Image: "a:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}}, LivenessProbe: &corev1.Probe{}}},
	}}
	b.ReportAllocs()
	for b.Loop() {
		podtemplate.Default(open.DeepCopy())
	}
}

func ExampleDefault() {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "migrate", Image: "shop:v2"}},
		Containers:     []corev1.Container{{Name: "shop", Image: "shop:v2"}},
	}}
	podtemplate.Default(template)
	fmt.Println(template.Spec.InitContainers[0].ImagePullPolicy, template.Spec.Containers[0].ImagePullPolicy, template.Spec.RestartPolicy)
	// Output: IfNotPresent Always Always
}

func decode[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}
