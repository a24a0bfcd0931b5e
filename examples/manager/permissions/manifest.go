package permissions

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Manifest returns a ServiceAccount in the namespace of a program and what gives
// it the rights of the parts, as YAML: a ClusterRole for what is needed
// everywhere, a Role for each namespace in which more is needed, and their
// bindings. All have the name of the program.
func Manifest(program, namespace string, parts []Part) ([]byte, error) {
	byNamespace := map[string][]Right{}
	for _, part := range parts {
		byNamespace[part.Namespace] = append(byNamespace[part.Namespace], part.Rights...)
	}
	objects := []runtime.Object{&corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: metav1.ObjectMeta{Name: program, Namespace: namespace},
	}}
	account := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: program, Namespace: namespace}
	for _, where := range slices.Sorted(maps.Keys(byNamespace)) {
		if rules := rules(byNamespace[where]); len(rules) > 0 {
			objects = append(objects, grant(metav1.ObjectMeta{Name: program, Namespace: where}, rules, account)...)
		}
	}
	var manifest bytes.Buffer
	for _, object := range objects {
		document, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&manifest, "---\n%s", document)
	}
	return manifest.Bytes(), nil
}

// grant returns a role and its binding, of the whole cluster where the meta names
// no namespace.
func grant(meta metav1.ObjectMeta, rules []rbacv1.PolicyRule, account rbacv1.Subject) []runtime.Object {
	kind := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
	}
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name}
	subjects := []rbacv1.Subject{account}
	if meta.Namespace == "" {
		return []runtime.Object{
			&rbacv1.ClusterRole{TypeMeta: kind("ClusterRole"), ObjectMeta: meta, Rules: rules},
			&rbacv1.ClusterRoleBinding{TypeMeta: kind("ClusterRoleBinding"), ObjectMeta: meta, RoleRef: role, Subjects: subjects},
		}
	}
	role.Kind = "Role"
	return []runtime.Object{
		&rbacv1.Role{TypeMeta: kind("Role"), ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{TypeMeta: kind("RoleBinding"), ObjectMeta: meta, RoleRef: role, Subjects: subjects},
	}
}
