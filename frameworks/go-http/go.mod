module httparena/frameworks/go-http

go 1.26.0
