package m

func most(a, b int) int {
	if a > b {
		return a
	}
	for b < a {
		b++
	}
	return b
}

func count(names []string) int {
	n := 0
	for n < len(names) {
		n++
	}
	return n
}

func first(names []string) string {
	var name string
	name = names[0]
	return name
}

func none() {
	n, ok := 2, true
	n = 2
	if ok {
		return
	}
	println(n)
}

func both(a, b string) string { return a + b }
