/* SPDX-License-Identifier: MIT */
/*
 * upool.hpp - pools for C++17: a memory resource for the standard containers, a buffer
 * that frees itself, and a view of its contents.  Header only; link with libupool.
 */
#ifndef UPOOL_HPP
#define UPOOL_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <utility>
#include <upool.h>

namespace upoolpp {	/* "upool" is the name of the struct */

/* Options with defaults; UPOOL_OPTIONS_INIT warns of missing initializers in C++. */
inline upool_options options() noexcept
{
	upool_options o{};

	o.size = sizeof(o);
	return o;
}

/**
 * class span - bytes that somebody else owns
 *
 * What std::span<std::byte> is from C++20 on.
 */
class span {
public:
	using value_type = std::byte;
	using iterator = std::byte *;

	constexpr span() noexcept = default;
	constexpr span(std::byte *data, std::size_t size) noexcept : data_(data), size_(size) {}

	constexpr std::byte *data() const noexcept { return data_; }
	constexpr std::size_t size() const noexcept { return size_; }
	constexpr bool empty() const noexcept { return !size_; }
	constexpr iterator begin() const noexcept { return data_; }
	constexpr iterator end() const noexcept { return data_ + size_; }
	constexpr std::byte &operator[](std::size_t i) const noexcept { return data_[i]; }

	/* @count is cut to what there is behind @offset. */
	constexpr span subspan(std::size_t offset, std::size_t count = SIZE_MAX) const noexcept
	{
		offset = offset < size_ ? offset : size_;
		return {data_ + offset, count < size_ - offset ? count : size_ - offset};
	}

private:
	std::byte *data_ = nullptr;
	std::size_t size_ = 0;
};

/**
 * class buffer - a buffer that goes back to its pool
 *
 * Moves, does not copy.  Empty when allocation failed: nothing here throws.
 */
class buffer {
public:
	buffer() noexcept = default;
	buffer(struct upool *pool, std::size_t bytes) noexcept
		: pool_(pool), data_(upool_alloc(pool, bytes)), size_(data_ ? bytes : 0) {}
	buffer(buffer &&other) noexcept
		: pool_(other.pool_), data_(std::exchange(other.data_, nullptr)),
		  size_(std::exchange(other.size_, 0)) {}
	buffer &operator=(buffer &&other) noexcept
	{
		if (this != &other) {
			reset();
			pool_ = other.pool_;
			data_ = std::exchange(other.data_, nullptr);
			size_ = std::exchange(other.size_, 0);
		}
		return *this;
	}
	~buffer() { reset(); }

	/* Claims the buffer of a token; empty if that is over. */
	static buffer accept(struct upool *pool, upool_token_t token) noexcept
	{
		buffer b;

		b.pool_ = pool;
		if (!upool_accept(pool, token, &b.data_))
			b.size_ = upool_usable_size(pool, b.data_);
		return b;
	}

	explicit operator bool() const noexcept { return data_; }
	void *data() const noexcept { return data_; }
	std::size_t size() const noexcept { return size_; }
	span bytes() const noexcept { return {static_cast<std::byte *>(data_), size_}; }
	upool_token_t token() const noexcept { return data_ ? upool_token(pool_, data_) : 0; }

	/* The caller's from now on. */
	void *release() noexcept
	{
		size_ = 0;
		return std::exchange(data_, nullptr);
	}
	void reset() noexcept
	{
		if (data_)
			upool_free(pool_, data_);
		release();
	}

private:
	struct upool *pool_ = nullptr;
	void *data_ = nullptr;
	std::size_t size_ = 0;
};

/**
 * class memory_resource - a private pool for std::pmr containers
 *
 * The pool must outlive it.  Throws std::bad_alloc when the pool gives none, as the
 * standard asks for.
 */
class memory_resource : public std::pmr::memory_resource {
public:
	explicit memory_resource(struct upool *pool = upool_shared()) noexcept : pool_(pool) {}

	struct upool *pool() const noexcept { return pool_; }

private:
	void *do_allocate(std::size_t bytes, std::size_t align) override
	{
		void *p = nullptr;

		if (pool_)
			p = align <= 16 ? upool_alloc(pool_, bytes)
					: upool_alloc_aligned(pool_, bytes, align);
		if (!p)
			throw std::bad_alloc();
		return p;
	}

	void do_deallocate(void *p, std::size_t, std::size_t) override { upool_free(pool_, p); }

	bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
	{
		auto *same = dynamic_cast<const memory_resource *>(&other);

		return same && same->pool_ == pool_;
	}

	struct upool *pool_;
};

} /* namespace upoolpp */

#endif /* UPOOL_HPP */
